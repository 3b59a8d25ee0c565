package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** All verbs count the samples of a version alike: those that a reader gets. */
class NumbersTest extends DatasetVerbs {

    private long number(String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(out.toString());
        assertThat(matcher.find()).as("%s in %s", pattern, out).isTrue();
        return Long.parseLong(matcher.group(1).replace(",", ""));
    }

    private JsonNode json(String... args) throws IOException {
        assertThat(stoker(args)).as("%s %s", out, err).isZero();
        return json();
    }

    /** Checks the newest version. The log of a rebuilt dataset has no removals of before. */
    private void isCounted(long samples) throws IOException {
        JsonNode info = json("info", path(), "--json", "--samples");
        assertThat(info.path("samples").asLong()).isEqualTo(samples);
        assertThat(info.at("/splits/train/samples").asLong()).isEqualTo(samples);
        long version = info.path("version").asLong();
        assertThat(stoker("info", path())).isZero();
        assertThat(number("samples +([0-9,]+) in")).isEqualTo(samples);
        assertThat(number("train +([0-9,]+) ")).isEqualTo(samples);

        assertThat(json("verify", path(), "--json").path("samples").asLong()).isEqualTo(samples);
        assertThat(stoker("verify", path())).isZero();
        assertThat(number("version " + version + ": ([0-9,]+) samples? in")).isEqualTo(samples);

        long sum = 0;
        for (JsonNode entry : json("log", path(), "--json")) {
            sum += entry.path("added_samples").asLong()
                    - entry.path("removed_samples").asLong();
        }
        assertThat(sum).isEqualTo(samples);

        assertThat(stoker("show", path())).isZero();
        assertThat(number("[0-9,]+ of ([0-9,]+) samples? of split train")).isEqualTo(samples);
        assertThat(stoker("ls", path(), "--recursive")).isZero();
        assertThat(out.toString().lines().count()).isEqualTo(samples);
        assertThat(stoker("index", path())).isZero();
        assertThat(stoker("index", path(), "--check")).isZero();
        assertThat(number("([0-9,]+) samples? compared, no difference")).isEqualTo(samples);
        Path copy = directory.resolve("exported-" + version + "-" + samples);
        assertThat(stoker("export", path(), copy.toString(), "--format", "parquet", "--dry-run"))
                .isZero();
        assertThat(number("([0-9,]+) samples?")).isEqualTo(samples);
    }

    private static List<Path> filesBelow(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private JsonNode newest() throws IOException {
        return json("log", path(), "--json").get(0);
    }

    @Test
    void everyVerbCountsTheSamplesThatAReaderGets() throws IOException {
        isCounted(9);
        dataset.append(7, 100, 6);
        isCounted(15);

        assertThat(stoker("delete", path(), key(0, 1), key(1, 0), "--yes")).isZero();
        isCounted(13);
        assertThat(newest().path("removed_samples").asLong()).isEqualTo(2);

        Path table = Files.writeString(
                directory.resolve("u.csv"), "key,score\n" + key(0, 0) + ",0.5\n" + key(1, 1) + ",0.25\n");
        assertThat(stoker("update", path(), table.toString(), "--yes")).isZero();
        isCounted(13);
        assertThat(newest().path("updated_samples").asLong()).isEqualTo(2);
        assertThat(newest().path("added_bytes").asLong()).isPositive();
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString().lines().skip(1).findFirst().orElseThrow()).matches(".* update +0 +0 +2 +0 .*");

        assertThat(stoker("delete", path(), key(2, 0), "--erase", "--yes")).isZero();
        isCounted(12);
        assertThat(stoker("compact", path())).isZero();
        isCounted(12);
        assertThat(newest().path("operation").asText()).isEqualTo("compact");
        assertThat(newest().path("added_samples").asLong()).isZero();
    }

    @Test
    void aRebuiltDatasetIsCountedAndDatedByItsChunks() throws IOException {
        Path table = Files.writeString(directory.resolve("u.csv"), "key,score\n" + key(0, 0) + ",0.5\n");
        assertThat(stoker("update", path(), table.toString(), "--yes")).isZero();
        assertThat(stoker("compact", path())).isZero();
        table = Files.writeString(directory.resolve("u.csv"), "key,score\n" + key(0, 0) + ",0.75\n");
        assertThat(stoker("update", path(), table.toString(), "--yes")).isZero();
        long before = System.currentTimeMillis();
        for (Path file : filesBelow(dataset.path().resolve("_stoker"))) {
            if (!file.endsWith("dataset.json")) {
                Files.delete(file);
            }
        }

        JsonNode rebuilt = json("rebuild", path(), "--json");
        assertThat(rebuilt.path("samples").asLong()).isEqualTo(9);
        isCounted(9);
        JsonNode newest = newest();
        assertThat(newest.path("updated_samples").isNull()).isTrue();
        // The overlay is new, the chunks are of 1970.
        assertThat(newest.path("committed_ms").asLong()).isBetween(before - 600_000, before);
    }
}

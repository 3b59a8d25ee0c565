package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Follows the commands that the modules of datasets and of ingests recommend. */
class DatasetAdviceTest extends AdvisedVerbs {

    private Path entry() {
        return dataset.path().resolve(String.format("_stoker/log/%020d.avro", dataset.version()));
    }

    @Test
    void aLogThatHasLostItsNewestEntry() throws IOException {
        Files.delete(entry());
        String said = said(1, "info", path());
        assertThat(follow(said, "stoker recover")).contains("run with --yes to recover");
        follow(said, "stoker recover", "--yes");
        said(0, "info", path());
    }

    @Test
    void anEntryInTheMiddleThatIsLost() throws IOException {
        said(0, "delete", path(), key(0, 0), "--yes");
        said(0, "delete", path(), key(0, 1), "--yes");
        Files.delete(dataset.path().resolve(String.format("_stoker/log/%020d.avro", 2)));
        follow(said(1, "info", path()), "stoker recover", "--yes");
        assertThat(said(0, "verify", path())).doesNotContain("missing");
    }

    @Test
    void aDescriptionThatIsLost() throws IOException {
        Files.delete(dataset.path().resolve("_stoker/dataset.json"));
        follow(said(1, "info", path()), "stoker recover", "--yes");
        said(0, "info", path());
    }

    @Test
    void aCopyOfAnEntryThatIsMissing() throws IOException {
        said(0, "delete", path(), key(0, 0), "--yes");
        try (var copies = Files.walk(dataset.path().resolve("_stoker/ingests"))) {
            for (Path copy : copies.filter(Files::isRegularFile).toList()) {
                Files.delete(copy);
            }
        }
        assertThat(said(1, "verify", path())).contains("is missing; `stoker recover` writes it again");
        said(0, "recover", path(), "--yes");
        said(0, "verify", path());
    }

    @Test
    void aTagThatNamesAnotherVersion() {
        said(0, "delete", path(), key(0, 0), "--yes");
        said(0, "tag", path(), "best", "1");
        List<String> words = new ArrayList<>(Advice.command(said(1, "tag", path(), "best", "2"), "stoker tag"));
        words.replaceAll(word -> word.equals("VERSION") ? "2" : word);
        assertThat(said(0, words.toArray(String[]::new))).contains("names version 2");
    }

    @Test
    void whatBlocksAnErasure() throws IOException {
        said(0, "tag", path(), "best");
        follow(said(0, "delete", path(), key(0, 0), "--erase"), "stoker tag");
        UUID feed = UUID.randomUUID();
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            Dataset opened = Dataset.open(store);
            new VersionUses(opened).take(1, feed, InstantSource.system(), "ada@host");
        }
        follow(said(0, "delete", path(), key(0, 0), "--erase"), "stoker expire");
        said(0, "delete", path(), key(0, 0), "--erase", "--yes");
    }

    @Test
    void aWriterThatHasDied() throws IOException {
        Path place = directory.resolve("my table");
        try (ObjectStore store = new LocalObjectStore(place)) {
            Dataset made = Dataset.create(store, SampleDatasets.info());
            new Leases(made).take("slow", Clock.systemUTC(), "ada@host", "");
        }
        Path tree = Files.createDirectories(directory.resolve("tree/c"));
        Files.writeString(tree.resolve("1.jpg"), "x");
        String[] ingest = {
            "ingest", tree.getParent().toString(), place.toString(), "--label-from", "parent-dir", "--parallelism", "1"
        };
        follow(said(1, ingest), "end it with: stoker gc");
        said(0, ingest);
    }

    @Test
    void aSourceThatIsADatasetOrATargetThatIsNone() throws IOException {
        String copy = directory.resolve("a copy").toString();
        follow(said(2, "ingest", path(), copy), "copy it with: stoker copy");
        said(0, "info", copy);
        Path tree = Files.createDirectories(directory.resolve("ada's tree"));
        Files.writeString(tree.resolve("1.jpg"), "x");
        String target = directory.resolve("new one").toString();
        follow(said(2, "sync", tree.toString(), target), "stoker ingest", "--parallelism", "1");
        said(0, "log", target);
        assertThat(said(1, "info", directory.resolve("tree").toString())).contains("`stoker ingest`");
    }

    @Test
    void aTableBesideFiles() throws IOException {
        Path tree = Files.createDirectories(directory.resolve("ada's tree"));
        for (int i = 0; i < 5; i++) {
            Files.writeString(tree.resolve(i + ".jpg"), "x");
        }
        Files.writeString(tree.resolve("labels.csv"), "id,class\n1,cat\n");
        String target = directory.resolve("rows").toString();
        String said = said(0, "ingest", tree.toString(), target, "--dry-run");
        List<String> words = new ArrayList<>(Advice.command(said, "stoker ingest"));
        words.replaceAll(word -> word.equals("TARGET") ? target : word);
        words.addAll(List.of("--parallelism", "1"));
        assertThat(said(0, words.toArray(String[]::new))).contains("1 sample in 1 chunk");
    }

    @Test
    void damagedFiles() throws IOException {
        Path chunk = dataset.file(0);
        byte[] bytes = Files.readAllBytes(chunk);
        bytes[bytes.length / 2] ^= 4;
        Files.write(chunk, bytes);
        assertThat(said(1, "export", path(), directory.resolve("out").toString(), "--format", "parquet"))
                .contains("run `stoker verify`");
        assertThat(said(1, "verify", path())).contains("is corrupt");
    }
}

package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.spec.OptionKinds.Kind;
import dev.stoker.ingest.topic.TopicIngestOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows what an ingest recommends instead of an option of another kind of source. */
class OptionKindsTest {
    private static final Map<String, String> VALUES = Map.ofEntries(
            Map.entry("--format", "csv"),
            Map.entry("--header", "h=f"),
            Map.entry("--label", "v"),
            Map.entry("--max-dead-letters", "3"),
            Map.entry("--parallelism", "2"),
            Map.entry("--read", "v=f"),
            Map.entry("--rename", "v=f"),
            Map.entry("--schema", "v:categorical"),
            Map.entry("--split", "val=0.1"),
            Map.entry("--split-by", "v"),
            Map.entry("--type", "v=int8"),
            Map.entry("--until", "latest"),
            Map.entry("--value", "json"),
            Map.entry("--where", "v NOT IN (3, 5)"));

    @TempDir
    private Path directory;

    private void parse(Kind kind, String option, String value) throws IOException {
        Path tree = Files.createDirectories(directory.resolve("tree"));
        String source = kind == Kind.TOPIC ? "kafka://a:1/t" : tree.toString();
        List<String> args =
                new ArrayList<>(List.of(source, directory.resolve("data").toString(), option, value));
        if (kind == Kind.TOPIC && !option.equals("--value")) {
            args.addAll(List.of("--value", "json"));
        }
        String[] words = args.toArray(String[]::new);
        switch (kind) {
            case FILES -> IngestOptions.parse(words);
            case ROWS -> RowIngestOptions.parse(words);
            case TOPIC -> TopicIngestOptions.parse(words);
        }
    }

    @Test
    void recommendsOptionsThatTheKindHas() throws IOException {
        for (Kind kind : Kind.values()) {
            for (var other : OptionKinds.others(kind).entrySet()) {
                String option = "--" + other.getKey().key().substring(IngestFlags.PREFIX.length());
                InvalidIngestException refused =
                        catchThrowableOfType(InvalidIngestException.class, () -> parse(kind, option, "x"));
                assertThat(refused.problems()).as(option).contains(other.getValue());
                String advice = other.getValue().split("; ", 2)[1];
                Matcher recommended =
                        Pattern.compile("(?<!leave out )--[a-z-]+").matcher(advice);
                while (recommended.find()) {
                    String instead = recommended.group();
                    assertThatCode(() -> parse(kind, instead, VALUES.get(instead)))
                            .as("%s: %s", kind, other.getValue())
                            .doesNotThrowAnyException();
                }
            }
        }
    }

    /** A range that is declared and that no parser checks would only be a promise. */
    @Test
    void refusesEachNumberOutsideOfItsRange() throws IOException {
        for (Kind kind : Kind.values()) {
            List<JobOption<?>> refused = new ArrayList<>();
            for (JobOption<?> option : OptionKinds.of(kind)) {
                for (String value : List.of("-1", "0", "1 bytes", "1 ms", "100000")) {
                    List<String> problems = new ArrayList<>();
                    JobArguments given = JobArguments.parse(new String[] {option.flag(), value}, List.of(option));
                    given.options().check(option, problems::add);
                    if (given.problems().isEmpty() && !problems.isEmpty()) {
                        refused.add(option);
                        assertThat(catchThrowableOfType(
                                                InvalidIngestException.class, () -> parse(kind, option.flag(), value))
                                        .problems())
                                .containsAll(problems);
                    }
                }
            }
            assertThat(refused).contains(IngestFlags.CHUNK_SIZE, IngestFlags.PARALLELISM);
        }
    }

    @Test
    void anOptionThatNoKindHasIsUnknown() {
        for (Kind kind : Kind.values()) {
            assertThat(catchThrowableOfType(InvalidIngestException.class, () -> parse(kind, "--bogus", "x"))
                            .problems())
                    .contains("unknown option --bogus");
        }
    }
}

package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A source, and the commands that ingest it and follow what a message recommends. */
final class AdvisedSource {
    /** What a command says if it had nothing to complain about. */
    static final String GOOD = "";

    private final Path directory;
    private final Path path;

    /** @param directory an empty one, for the source and the dataset */
    AdvisedSource(Path directory) {
        this.directory = directory;
        this.path = directory.resolve("source");
    }

    Path path() {
        return path;
    }

    Path path(String name) {
        return path.resolve(name);
    }

    Path target() {
        return directory.resolve("data");
    }

    void file(String name, String text) throws IOException {
        file(name, text.getBytes(StandardCharsets.UTF_8));
    }

    void file(String name, byte[] bytes) throws IOException {
        Path file = path.resolve(name);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
    }

    /** Copies a file that another library has written. */
    void golden(String name, String to) throws IOException {
        file(to, Files.readAllBytes(Path.of("formats/src/test/resources", name)));
    }

    void delete(String... names) throws IOException {
        for (String name : names) {
            Files.delete(path.resolve(name));
        }
    }

    /** Creates the target, without samples, as a user does who declares the fields. */
    void dataset(Field... fields) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target())) {
            Instant now = Instant.parse("2026-01-01T00:00:00Z");
            Dataset.create(store, new DatasetInfo(UUID.randomUUID(), "data", now, List.of(fields), Map.of(), Map.of()));
        }
    }

    private String[] arguments(Path from, List<String> options) {
        List<String> arguments = new ArrayList<>(List.of(from.toString(), target().toString()));
        arguments.addAll(options);
        return arguments.toArray(String[]::new);
    }

    /** Returns what a dry run says, also as an error. */
    String plan(Path from, List<String> options) throws IOException {
        List<String> all = new ArrayList<>(options);
        all.add("--dry-run");
        String[] args = arguments(from, all);
        try {
            return String.join(
                    "\n",
                    RowDetection.isRows(args)
                            ? RowIngestJob.plan(RowIngestOptions.parse(args))
                            : IngestJob.plan(IngestOptions.parse(args)).lines());
        } catch (InvalidIngestException e) {
            return "error: " + String.join("\n", e.problems());
        } catch (IOException e) {
            return "error: " + ErrorText.of(e);
        }
    }

    String plan(String... options) throws IOException {
        return plan(path, Arrays.asList(options));
    }

    static boolean isGood(String said) {
        return !said.startsWith("error") && !said.contains("ends the ingest") && !said.contains("warning");
    }

    /** Returns what an ingest says that fails, or {@link #GOOD}. Needs a cluster. */
    String run(List<String> options) throws Exception {
        String[] args = arguments(path, options);
        JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(
                new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none")));
        try {
            if (RowDetection.isRows(args)) {
                RowIngestJob.run(RowIngestOptions.parse(args), launcher, IngestListener.silent());
            } else {
                IngestJob.run(IngestOptions.parse(args), launcher, IngestListener.silent());
            }
            return GOOD;
        } catch (InvalidIngestException e) {
            return "error: " + String.join("\n", e.problems());
        } catch (IngestFailedException e) {
            return "error: " + ErrorText.of(e);
        }
    }

    String run(String... options) throws Exception {
        return run(Arrays.asList(options));
    }

    /**
     * Returns given options and one that a message recommends, with a value for its placeholder. It replaces the same
     * option for the same column.
     */
    static List<String> follow(String said, String option, String placeholder, String value, String... given) {
        List<String> options = new ArrayList<>(Arrays.asList(given));
        String word = Advice.in(said, option).get(1);
        String column = word.substring(0, word.lastIndexOf('=') + 1);
        for (int i = 0; i + 1 < options.size(); i += 2) {
            if (options.get(i).equals(option)
                    && !column.isEmpty()
                    && options.get(i + 1).startsWith(column)) {
                options.subList(i, i + 2).clear();
            }
        }
        options.add(option);
        options.add(placeholder.isEmpty() ? word : word.replace(placeholder, value));
        return options;
    }

    /** Follows an option that a message of a dry run recommends. */
    void assertHelps(Path from, String option, String placeholder, String value, String... given) throws IOException {
        String said = plan(from, Arrays.asList(given));
        assertThat(isGood(said)).as(said).isFalse();
        List<String> options = follow(said, option, placeholder, value, given);
        String then = plan(from, options);
        assertThat(isGood(then))
                .as("%s\nfollowed by %s:\n%s", said, options, then)
                .isTrue();
    }

    /** Follows an option that a message of a dry run recommends. */
    void assertHelps(String option, String... given) throws IOException {
        assertHelps(path, option, "", "", given);
    }

    /** Follows an option that a message of an ingest recommends. Needs a cluster. */
    void assertRunHelps(String option, String... given) throws Exception {
        String said = run(given);
        assertThat(said).isNotEqualTo(GOOD);
        List<String> options = follow(said, option, "", "", given);
        assertThat(run(options)).as("%s\nfollowed by %s", said, options).isEqualTo(GOOD);
    }
}

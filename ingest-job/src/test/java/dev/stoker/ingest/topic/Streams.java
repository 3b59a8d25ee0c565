package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.flink.launch.ClusterLauncher;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Runs ingests of topics and reads their results. */
final class Streams {

    private Streams() {}

    /** Runs on the shared cluster. */
    static JobLauncher job() throws IOException {
        return new ClusterLauncher(
                Files.createTempDirectory("stream-"),
                StreamExecutionEnvironment.createLocalEnvironment(2),
                SharedFlink.cluster(),
                ClusterLauncher.Ownership.SHARED);
    }

    static TopicIngestOptions options(String topic, Path target, String... more) {
        List<String> args = new ArrayList<>(List.of(topic, target.toString()));
        args.addAll(List.of(more));
        return TopicIngestOptions.parse(args.toArray(new String[0]));
    }

    /** Runs until the topic's end. Commits only there, as Flink's first checkpoint may come at any time. */
    static TopicIngestResult ingest(Topic topic, Path target, String... more) throws Exception {
        List<String> args = new ArrayList<>(List.of(more));
        args.addAll(List.of("--until=latest", "--commit-interval=1 h"));
        TopicIngestOptions options = options(topic.uri(), target, args.toArray(new String[0]));
        try (JobLauncher job = job()) {
            return TopicIngestJob.run(options, job, IngestListener.silent(), () -> false);
        }
    }

    /** Values of a binary field, as text, by key. */
    static Map<String, String> texts(Path target, String field) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        Packed.read(target)
                .bytes(field)
                .forEach((key, bytes) -> texts.put(key, new String(bytes, StandardCharsets.UTF_8)));
        return texts;
    }

    /** What {@code stoker verify} finds wrong with the newest version. */
    static void verify(Path target) throws Exception {
        try (ObjectStore store = new LocalObjectStore(target)) {
            Dataset dataset = Dataset.open(store);
            assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                            .run(dataset.snapshot())
                            .problems())
                    .isEmpty();
        }
    }

    static LogEntry entry(Path target, long version) throws IOException {
        try (ObjectStore store = new LocalObjectStore(target)) {
            return Dataset.open(store).entry(version);
        }
    }

    /** The dead letters below a directory, by their names there. */
    static Map<String, String> letters(Path directory) throws IOException {
        Map<String, String> letters = new TreeMap<>();
        if (Files.isDirectory(directory)) {
            try (Stream<Path> found = Files.walk(directory)) {
                for (Path file : found.filter(Files::isRegularFile).toList()) {
                    letters.put(directory.relativize(file).toString(), Files.readString(file));
                }
            }
        }
        return letters;
    }
}

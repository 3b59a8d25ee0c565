package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.ScratchDirectory;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command as users meet it: real processes, real signals. */
@Timeout(400)
class ProcessITCase {

    @TempDir
    private Path directory;

    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 3, 100, 9, 8, 7, 11);
    }

    private StokerProcess feed(String name, String... options) throws IOException {
        String[] args = new String[options.length + 3];
        args[0] = "feed";
        args[1] = dataset.path().toString();
        args[2] = "--name=" + name;
        System.arraycopy(options, 0, args, 3, options.length);
        return StokerProcess.start(directory, args);
    }

    /** Runs a verb in this process and returns its output, including errors. */
    private static String stoker(String... args) {
        StringWriter text = new StringWriter();
        PrintWriter both = new PrintWriter(text, true);
        Stoker.run(List.of(args), both, both);
        return text.toString();
    }

    /** Directories of temporary files that still exist. */
    private List<Path> scratch() throws IOException {
        try (Stream<Path> found = Files.list(directory)) {
            return found.filter(path -> path.getFileName().toString().startsWith(ScratchDirectory.PREFIX))
                    .toList();
        }
    }

    private static String address(String name) throws IOException {
        return FeedFile.require(name).addresses();
    }

    @Test
    void runPassesSignalsAndTheExitCodeOn() throws Exception {
        try (StokerProcess run = StokerProcess.start(
                directory,
                "run",
                dataset.path().toString(),
                "--name=it-run",
                "--",
                "sh",
                "-c",
                "trap 'exit 5' TERM; echo feed=$STOKER_FEED run=$STOKER_RUN; while :; do sleep 0.1; done")) {
            run.await("feed=it-run run=").signal("TERM");

            assertThat(run.code()).isEqualTo(5);
            assertThat(run.output()).contains("feed it-run ended after ", "no trainer has read from it");
        }
        assertThat(stoker("ps")).doesNotContain("it-run");
    }

    @Test
    void feedsOfOneMachineKeepApart() throws Exception {
        try (StokerProcess first = feed("it-first", "--port=0")) {
            first.await("ready at");
            String port = address("it-first").replaceAll(".*:", "");
            try (StokerProcess again = feed("it-first", "--port=0");
                    StokerProcess taken = feed("it-taken", "--port=" + port);
                    StokerProcess second = feed("it-second", "--port=0")) {
                assertThat(again.code()).isEqualTo(1);
                assertThat(again.output()).contains("stoker: a feed it-first is already running (pid ");
                assertThat(taken.code()).isEqualTo(1);
                assertThat(taken.output()).contains("stoker: port " + port + " on 127.0.0.1 is taken");
                assertThat(taken.output().lines()).hasSize(2);
                second.await("ready at");
                try (RawClient client = RawClient.connect(address("it-second"))) {
                    assertThat(client.join(RawClient.hello()).feed().name()).isEqualTo("it-second");
                }
                assertThat(stoker("stop", "it-second", "--timeout", "120s")).contains("feed it-second ended");
                assertThat(second.code()).isZero();
            }
            assertThat(stoker("ps")).contains("it-first").doesNotContain("it-second", "it-taken");
            assertThat(stoker("stop", "it-second")).contains("has already ended");
        }
    }

    @Test
    void aFeedThatDiedIsSeenAsGoneAndReplaced() throws Exception {
        try (StokerProcess feed = feed("it-gone", "--port=0").await("ready at")) {
            feed.signal("KILL");
            feed.code();
        }
        assertThat(scratch()).hasSize(1).allSatisfy(left -> assertThat(left).isNotEmptyDirectory());
        assertThat(stoker("ps")).containsPattern("it-gone +gone");
        assertThat(stoker("stop", "it-gone")).contains("is gone");
        try (StokerProcess feed = feed("it-gone", "--port=0").await("ready at")) {
            assertThat(stoker("ps")).containsPattern("it-gone +running");
            feed.signal("INT");

            assertThat(feed.code()).isZero();
        }
        assertThat(scratch()).isEmpty();
    }

    @Test
    void anInterruptedIngestCanBeGoneOnWith() throws Exception {
        Path source = Files.createDirectories(directory.resolve("source/a"));
        for (int i = 0; i < 3000; i++) {
            Files.write(source.resolve(i + ".bin"), new byte[] {1, 2, 3});
        }
        String target = directory.resolve("packed").toString();
        String[] args = {"ingest", source.getParent().toString(), target, "--label-from=parent-dir"};
        String id;
        try (StokerProcess ingest = StokerProcess.start(directory, args).await("order  shuffled")) {
            ingest.signal("INT");

            assertThat(ingest.code()).isEqualTo(130);
            assertThat(ingest.output()).contains("nothing is visible in the dataset");
            id = ingest.output().replaceAll("(?s).*--ingest-id (\\S+).*", "$1");
        }
        assertThat(stoker("info", target)).contains("has no version yet");
        for (int i = 0; i < 2; i++) {
            try (StokerProcess ingest =
                    StokerProcess.start(directory, args[0], args[1], target, args[3], "--ingest-id=" + id)) {
                assertThat(ingest.code()).isZero();
            }
        }
        assertThat(stoker("log", target)).contains(id).contains("3,000").hasLineCount(2);
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.look.CatVerb;
import dev.stoker.cli.look.GetVerb;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.StandardOutput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A command whose output is lost must not succeed. */
class LostOutputTest extends DatasetVerbs {

    private final ByteArrayOutputStream messages = new ByteArrayOutputStream();

    @BeforeEach
    void appendVersion() throws IOException {
        dataset.append(4, 100, 3);
        Files.createDirectories(directory.resolve("tree/cat"));
        Files.writeString(directory.resolve("tree/cat/1.txt"), "purr");
        Files.writeString(directory.resolve("updates.csv"), "key,score\n" + key(0, 0) + ",0.5\n");
    }

    /** Standard output that takes some bytes. */
    private static final class FullDisk extends OutputStream {
        private final String reason;
        private int left;

        FullDisk(String reason, int left) {
            this.reason = reason;
            this.left = left;
        }

        @Override
        public void write(int b) throws IOException {
            if (left-- <= 0) {
                throw new IOException(reason);
            }
        }
    }

    private int stokerTo(OutputStream to, List<String> args) throws IOException {
        messages.reset();
        Path home = Files.createDirectories(directory.resolve("home"));
        PrintStream err = new PrintStream(messages, true, StandardCharsets.UTF_8);
        return Stoker.run(args, home, Files.createDirectories(directory.resolve("tmp")), to, err);
    }

    private String said() {
        return messages.toString(StandardCharsets.UTF_8);
    }

    @Test
    void everyVerbFailsIfItsOutputIsLost() throws IOException {
        Path work = Files.createDirectories(directory.resolve("work"));
        Path tree = directory.resolve("tree");
        SoftAssertions every = new SoftAssertions();
        for (List<String> args :
                EveryVerb.of(dataset.path(), key(0, 0), tree, directory.resolve("updates.csv"), work)) {
            if (args.get(0).equals("cat")) {
                // Writes past the writer of the others.
                continue;
            }
            if (args.get(0).equals("sync")) {
                // Starts Flink, so once is enough.
                every.assertThat(stokerTo(new FullDisk("No space left on device", 0), args))
                        .isEqualTo(1);
                every.assertThat(said()).endsWith("so the output is incomplete: No space left on device\n");
                continue;
            }
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            every.assertThat(stokerTo(whole, args)).as("%s: %s", args, said()).isZero();
            every.assertThat(whole.size()).as("%s", args).isPositive();

            // A duration does not have the same number of digits in each run.
            boolean isOfOneSize = !whole.toString(StandardCharsets.UTF_8).contains("\"seconds\"");
            for (int kept : new int[] {0, isOfOneSize ? whole.size() - 1 : whole.size() / 2}) {
                every.assertThat(stokerTo(new FullDisk("No space left on device", kept), args))
                        .as("%s", args)
                        .isEqualTo(1);
                every.assertThat(said())
                        .endsWith("stoker: standard output cannot be written, so the output is incomplete:"
                                + " No space left on device\n");
            }
            every.assertThat(stokerTo(new FullDisk("Broken pipe", 0), args))
                    .as("%s", args)
                    .isEqualTo(141);
            every.assertThat(said()).doesNotContain("ipe", "stoker:");
        }
        every.assertAll();
        assertThat(stokerTo(new FullDisk("No space left on device", 0), List.of("--help")))
                .isEqualTo(1);
    }

    @Test
    void aCommandThatFailsKeepsItsExitCode() throws IOException {
        assertThat(stokerTo(new FullDisk("No space left on device", 0), List.of("info", path() + "@9")))
                .isEqualTo(1);
        assertThat(said()).doesNotContain("No space");
        assertThat(stokerTo(new FullDisk("No space left on device", 0), List.of("nothing")))
                .isEqualTo(2);
    }

    @Test
    void contentsThatAreLostAreReportedAlike() {
        for (String reason : List.of("No space left on device", "Broken pipe")) {
            for (int kept : new int[] {0, 1}) {
                StandardOutput full = new StandardOutput(new FullDisk(reason, kept));
                for (Object verb : List.of(new GetVerb(full, () -> false), new CatVerb(full, () -> false))) {
                    err.getBuffer().setLength(0);
                    int code = new CommandLine(verb)
                            .setErr(new PrintWriter(err, true))
                            .setExecutionExceptionHandler(Errors::failed)
                            .execute(path(), key(0, 0));
                    boolean isClosed = reason.equals("Broken pipe");
                    assertThat(code).isEqualTo(isClosed ? 141 : 1);
                    assertThat(err.toString())
                            .isEqualTo(
                                    isClosed
                                            ? ""
                                            : "stoker: standard output cannot be written, so the output is"
                                                    + " incomplete: No space left on device\n");
                }
            }
        }
    }

    @Test
    void nothingFollowsAGap() throws IOException {
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        StandardOutput out = new StandardOutput(new OutputStream() {
            private int writes;

            @Override
            public void write(int b) throws IOException {
                if (++writes == 2) {
                    throw new IOException("No space left on device");
                }
                kept.write(b);
            }
        });
        PrintWriter writer = new PrintWriter(out, true, StandardCharsets.UTF_8);
        writer.println("a");
        writer.println("b");
        writer.flush();
        assertThat(kept.toString(StandardCharsets.UTF_8)).isEqualTo("a");
        assertThat(out.end(0, new PrintWriter(err, true))).isEqualTo(1);
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Advice;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** Verbs whose messages recommend something, on a dataset whose name needs quotes in a shell. */
abstract class AdvisedVerbs extends DatasetVerbs {
    @Override
    @BeforeEach
    void createDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("ada's photos"), 3, 100, 5, 4);
    }

    /** Returns what a command says. */
    String said(int code, String... args) {
        assertThat(stoker(args)).as(() -> out.toString() + err).isEqualTo(code);
        return out.toString() + err;
    }

    /** Runs a command that a message recommends, with more arguments, and returns what it says. */
    String follow(String said, String command, String... more) {
        List<String> words = new ArrayList<>(Advice.command(said, command));
        words.addAll(List.of(more));
        assertThat(stoker(words.toArray(String[]::new)))
                .as(() -> said + "followed by " + words + ":\n" + out + err)
                .isZero();
        return out.toString() + err;
    }

    /** Follows an option without a value that a message recommends. */
    String assertHelps(int code, String option, String... args) {
        return assertHelps(code, List.of(option), args);
    }

    /** Follows an option that a message recommends, with a value that takes the place of the one in the message. */
    String assertHelps(int code, List<String> option, String... args) {
        String said = said(code, args);
        assertThat(said).contains(option.get(0));
        List<String> words = new ArrayList<>(List.of(args));
        words.addAll(option);
        assertThat(stoker(words.toArray(String[]::new)))
                .as(() -> said + "followed by " + words + ":\n" + out + err)
                .isZero();
        return out.toString() + err;
    }

    /** Leaves out an option that a message says not to give. */
    void assertLeftOutHelps(int code, String said, String option, String... args) {
        assertThat(said(code, args)).contains(said);
        List<String> words = new ArrayList<>(List.of(args));
        assertThat(words.remove(option)).isTrue();
        assertThat(stoker(words.toArray(String[]::new)))
                .as(() -> said + "\nfollowed by " + words + ":\n" + out + err)
                .isZero();
    }
}

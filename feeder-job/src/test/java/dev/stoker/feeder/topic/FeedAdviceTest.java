package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.StartWarnings;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Follows the advice of feeds: the option that a message recommends must help. */
class FeedAdviceTest {
    @TempDir
    private Path directory;

    private TestDataset dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        int[] rows = new int[30];
        Arrays.fill(rows, 3);
        dataset = TestDataset.create(directory.resolve("photos"), 5, 4000, rows);
    }

    private FeedPlan feed(List<String> options) throws IOException {
        List<String> args = new ArrayList<>(List.of(dataset.path().toString()));
        args.addAll(options);
        return FeedPlan.of(FeedOptions.parse(args.toArray(String[]::new)));
    }

    private TopicFeedPlan topic(List<String> options) throws IOException {
        List<String> args = new ArrayList<>(
                List.of(dataset.path().toString(), "--to", "kafka", "--bootstrap", "a:1", "--topic", "t"));
        args.addAll(options);
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(String[]::new)));
    }

    /** Returns given options and one that a message recommends, without one that was given. */
    private static List<String> follow(
            Throwable said, String option, String placeholder, String value, String... given) {
        List<String> options = new ArrayList<>(Arrays.asList(given));
        int at = options.indexOf(option);
        if (at >= 0) {
            options.subList(at, at + 2).clear();
        }
        for (String word : Advice.in(said.getMessage(), option)) {
            options.add(placeholder.isEmpty() ? word : word.replace(placeholder, value));
        }
        return options;
    }

    private void assertTopicHelps(String option, String placeholder, String value, String... given) {
        Throwable said = catchThrowable(() -> topic(Arrays.asList(given)));
        List<String> options = follow(said, option, placeholder, value, given);
        assertThatCode(() -> topic(options))
                .as("%s\nfollowed by %s", said, options)
                .doesNotThrowAnyException();
    }

    @Test
    void eachAdviceIsRegistered() throws IOException {
        assertThat(Advice.differences(
                        Path.of("src/test/resources/advice.tsv"), Path.of("src/test/java"), Path.of("src/main/java")))
                .isEmpty();
    }

    @Test
    void aSmallWindow() throws IOException {
        List<String> said = StartWarnings.ofTopic(feed(List.of("--shuffle-window", "64 bytes")));
        assertThat(StartWarnings.ofTopic(feed(Advice.in(String.join("\n", said), "--shuffle-window"))))
                .isEmpty();
    }

    @Test
    void versionsThatAreGivenTwice() {
        Throwable said = catchThrowable(() -> feed(List.of("--version", "1", "--as-of", "0s")));
        assertThat(said).hasMessageContaining("--version and --as-of give two versions; leave one out");
        assertThatCode(() -> feed(List.of("--version", "1"))).doesNotThrowAnyException();
        assertThatCode(() -> feed(List.of("--as-of", "0s"))).doesNotThrowAnyException();
        assertThat(catchThrowable(() -> feed(List.of("--follow", "--as-of", "0s"))))
                .hasMessageContaining("leave out one of them");
        assertThat(catchThrowable(() -> feed(List.of("--follow", "--version", "1"))))
                .hasMessageContaining("leave out @1 or --follow");
        assertThatCode(() -> feed(List.of("--follow"))).doesNotThrowAnyException();
    }

    @Test
    void aCertificate() {
        Throwable said = catchThrowable(() -> feed(List.of("--tls-client-ca", "ca.pem")));
        List<String> options = follow(said, "--tls-cert", "FILE", "a.pem", "--tls-client-ca", "ca.pem");
        options.addAll(List.of(Advice.in(said.getMessage(), "--tls-key").get(0), "a.key"));
        assertThatCode(() -> FeedOptions.parse(
                        dataset.path().toString(),
                        options.get(0),
                        options.get(1),
                        options.get(2),
                        options.get(3),
                        options.get(4),
                        options.get(5)))
                .doesNotThrowAnyException();
    }

    @Test
    void aPlaceThatCannotBeWritten() throws IOException {
        Path feeds = dataset.path().resolve("_stoker/feeds");
        Files.createDirectories(feeds.getParent());
        Files.writeString(feeds, "in the way");
        Throwable said = catchThrowable(() -> feed(List.of()));
        assertThat(said).isInstanceOf(StokerException.class);
        List<String> place =
                follow(said, "--ledger", "PLACE", directory.resolve("ledger").toString());
        assertThatCode(() -> feed(place)).doesNotThrowAnyException();
        List<String> following = new ArrayList<>(place);
        following.add("--follow");
        assertThat(catchThrowable(() -> feed(following)))
                .hasMessageEndingWith("make it writable, or feed one version without --follow");
    }

    @Test
    void anEndlessTopic() {
        assertTopicHelps("--epochs", "N", "3", "--world-size", "1");
        assertTopicHelps("--throttle-groups", "GROUP", "trainers", "--world-size", "1");
        assertTopicHelps(
                "--value-format", "", "", "--world-size", "1", "--epochs", "1", "--schema-registry", "http://a");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--lanes 6", "--lane-order mixed", "--lanes 7 --lane-order mixed"})
    void lanesThatTheRanksCannotShare(String options) throws IOException {
        List<String> given = new ArrayList<>(List.of("--world-size", "4", "--epochs", "1"));
        given.addAll(List.of(options.split(" ")));
        Throwable said = catchThrowable(() -> topic(given));
        List<String> followed = new ArrayList<>(given.subList(0, 4));
        followed.addAll(Advice.in(said.getMessage(), "--lane-order"));
        followed.addAll(Advice.in(said.getMessage(), "--lanes"));
        assertThat(topic(followed).readAmplification()).isEqualTo(1);
        given.add("--allow-read-amplification");
        assertThat(said).hasMessageEndingWith("or accept it with --allow-read-amplification");
        assertThat(topic(given).readAmplification()).isGreaterThan(1);
    }

    @Test
    void transactionsThatTheBrokersAbort() throws Exception {
        String[] given = {
            "--world-size",
            "1",
            "--epochs",
            "1",
            "--delivery",
            "exactly-once",
            "--checkpoint-interval",
            "10s",
            "--transaction-timeout",
            "15s"
        };
        Throwable said = catchThrowable(() -> TopicFeedJob.requireTransactions(topic(Arrays.asList(given))));
        assertThat(said).isInstanceOf(TopicException.class);
        TopicFeedJob.requireTransactions(topic(follow(said, "--transaction-timeout", "", "", given)));
        TopicFeedJob.requireTransactions(topic(follow(said, "--checkpoint-interval", "", "", given)));
    }

    @Test
    void aTopicWithOtherRecords() throws Exception {
        String[] given = {"--world-size", "1", "--epochs", "1", "--value-format", "avro"};
        TopicFeedPlan arrow = topic(List.of("--world-size", "1", "--epochs", "1"));
        RecordHeader last = RecordHeader.control(
                RecordKind.EPOCH_END, new Fingerprint("00112233445566778899aabbccddeeff"), 1, 0, 0);
        Throwable other = catchThrowable(
                () -> TopicFeedStart.after(topic(Arrays.asList(given)), 0, Optional.of(last), (lane, record) -> {}));
        assertThat(topic(follow(other, "--topic", "NAME", "u", given)).target().topic())
                .isEqualTo("u");
        assertThat(topic(follow(other, "--value-format", "", "", given))
                        .values()
                        .format())
                .isEqualTo(last.values());
        Throwable foreign = catchThrowable(
                () -> TopicFeedStart.pinned(arrow.target(), "0123456789abcdef").require(0, last));
        assertThat(topic(follow(foreign, "--topic", "NAME", "u", given))
                        .target()
                        .topic())
                .isEqualTo("u");
    }
}

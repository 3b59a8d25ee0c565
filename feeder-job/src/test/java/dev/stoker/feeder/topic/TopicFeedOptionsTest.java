package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.plan.FeedKind;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicFeedOptionsTest {
    @TempDir
    Path directory;

    private TestDataset dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        int[] rows = new int[30];
        Arrays.fill(rows, 3);
        dataset = TestDataset.create(directory.resolve("photos"), 5, 20, rows);
    }

    private TopicFeedPlan parse(String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(), "--to", "kafka", "--bootstrap", "a:1,b:2", "--topic", "t", "--epochs", "3"));
        args.addAll(List.of(options));
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
    }

    @Test
    void isWantedWhereATargetIsNamed() {
        assertThat(TopicFeedOptions.wanted(new String[] {"./photos", "--to", "kafka"}))
                .isTrue();
        assertThat(TopicFeedOptions.wanted(new String[] {"./photos", "--to=kafka"}))
                .isTrue();
        assertThat(TopicFeedOptions.wanted(new String[] {"./photos", "--topic=kafka", "--", "--to"}))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"1, 16", "2, 16", "3, 18", "5, 20", "8, 16", "13, 26", "16, 16", "24, 24", "30, 30", "17, 17"})
    void choosesLanesThatTheRanksCanShare(int worldSize, int lanes) throws IOException {
        TopicFeedPlan plan = parse("--world-size", "" + worldSize);
        assertThat(plan.lanes()).isEqualTo(lanes);
        assertThat(plan.readAmplification()).isEqualTo(1);
        OrderSpec order = OrderSpec.fromJson(plan.feed().order());
        assertThat(order.laneOrder()).isEqualTo(LaneOrder.FIXED);
    }

    @ParameterizedTest
    @CsvSource({
        "'--world-size=4 --lanes=6', 2, 6 lanes are not a multiple of 4 ranks",
        "'--world-size=3 --lanes=16', 3, 16 lanes are not a multiple of 3 ranks",
        "'--world-size=4 --lane-order=mixed', 4, lane order is mixed",
        "'--world-size=31', 31, the stream has only 30 lanes",
    })
    void refusesAmplificationUnlessItIsAllowed(String options, int factor, String why) throws IOException {
        assertThatThrownBy(() -> parse(options.split(" ")))
                .isInstanceOf(InvalidFeedException.class)
                .hasMessageContaining(why)
                .hasMessageContaining(factor + " times what they need")
                .hasMessageContaining("--allow-read-amplification");
        assertThat(parse((options + " --allow-read-amplification").split(" ")).readAmplification())
                .isEqualTo(factor);
    }

    @Test
    void namesEverythingThatIsWrong() {
        assertThatThrownBy(() -> TopicFeedOptions.parse(new String[] {
                    "a",
                    "b",
                    "--to=rabbit",
                    "--delivery=twice",
                    "--max-record-bytes=7",
                    "--epochs-ahead=-1",
                    "--topc=t",
                    "--value-format=json",
                    "--schema-registry=registry:8081"
                }))
                .hasMessageContaining("--value-format: 'json' is not one of arrow, avro")
                .hasMessageContaining("only records of Avro have a schema; give --value-format avro")
                .hasMessageContaining("'registry:8081' is not an http:// or https:// address")
                .isInstanceOf(InvalidFeedException.class)
                .hasMessageContaining("'rabbit' is not one of trainers, kafka")
                .hasMessageContaining("--bootstrap is missing")
                .hasMessageContaining("--topic is missing")
                .hasMessageContaining("--world-size is missing")
                .hasMessageContaining("2 datasets are given")
                .hasMessageContaining("'twice' is not one of")
                .hasMessageContaining("--max-record-bytes: 7")
                .hasMessageContaining("--epochs-ahead: -1")
                .hasMessageContaining("unknown option --topc, did you mean --topic?")
                .hasMessageContaining("give --epochs N, or --throttle-groups GROUP");
    }

    /** A range that is declared and that no parser checks would only be a promise. */
    @Test
    void refusesEachNumberOutsideOfItsRange() {
        List<JobOption<?>> refused = new ArrayList<>();
        for (JobOption<?> option :
                OptionHeading.options(Stream.concat(FeedFlags.headings().stream(), TopicFeedFlags.headings().stream())
                        .toList())) {
            for (String value : List.of("-1", "0", "100000000")) {
                List<String> problems = new ArrayList<>();
                JobArguments given = JobArguments.parse(new String[] {option.flag(), value}, List.of(option));
                given.options().check(option, problems::add);
                if (given.problems().isEmpty() && !problems.isEmpty()) {
                    refused.add(option);
                    String[] args = {"data", option.flag(), value};
                    String[] ofTopic = {
                        "data",
                        "--to=kafka",
                        "--topic=t",
                        "--bootstrap=a:1",
                        "--epochs=1",
                        "--world-size=1",
                        option.flag(),
                        value
                    };
                    if (option.isFor(FeedKind.TRAINERS)) {
                        assertThatThrownBy(() -> TopicFeedOptions.parseServed(args))
                                .hasMessageContaining(problems.get(0));
                    }
                    if (option.isFor(FeedKind.KAFKA)) {
                        assertThatThrownBy(() -> TopicFeedOptions.parse(ofTopic))
                                .hasMessageContaining(problems.get(0));
                    }
                }
            }
        }
        assertThat(refused).contains(FeedFlags.EPOCHS, FeedFlags.MAX_SESSIONS, TopicFeedFlags.EPOCHS_AHEAD);
    }

    @Test
    void anOptionOfTopicsNeedsTheirTarget() {
        for (JobOption<?> option : TopicFeedFlags.all()) {
            String flag = option.flag();
            boolean isKnown = option.equals(TopicFeedFlags.TO);
            String[] args = {"data", flag, isKnown ? "trainers" : "1"};
            assertThat(TopicFeedOptions.wanted(args)).isFalse();
            if (isKnown) {
                assertThat(TopicFeedOptions.parseServed(args).streams()).hasSize(1);
            } else {
                assertThatThrownBy(() -> TopicFeedOptions.parseServed(args))
                        .hasMessageContaining("option " + flag + " is for feeds to Kafka; add --to kafka");
            }
        }
        assertThat(TopicFeedOptions.wanted(new String[] {"data", "--topic", "t", "--to", "kafka"}))
                .isTrue();
        assertThat(TopicFeedOptions.wanted(new String[] {"data", "--to=trainers"}))
                .isFalse();
        assertThatThrownBy(() -> TopicFeedOptions.parseServed("data", "--bogus", "1"))
                .hasMessageContaining("unknown option --bogus");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--groups=train/a",
                "--port=7000",
                "--bind=0.0.0.0",
                "--advertise=host",
                "--token-file=token",
                "--tls-cert=a.pem",
                "--tls-key=a.key",
                "--tls-client-ca=ca.pem",
                "--insecure",
                "--idle-timeout=5s",
                "--max-sessions=3",
                "--ui=off"
            })
    void anOptionOfServersIsRefused(String option) {
        assertThatThrownBy(() -> parse("--world-size=2", option))
                .isInstanceOfSatisfying(
                        InvalidFeedException.class,
                        e -> assertThat(e.problems())
                                .containsExactly("option " + option.split("=")[0] + " is for feeds to trainers; a feed"
                                        + " to Kafka has no server and no trainers, so leave it out"));
    }

    @Test
    void refusesMoreRanksThanThereCanBeLanes() {
        assertThatThrownBy(() -> parse("--world-size=65536"))
                .isInstanceOfSatisfying(
                        InvalidFeedException.class,
                        e -> assertThat(e.problems())
                                .containsExactly("option --world-size: 65536 ranks need as many lanes, but the"
                                        + " maximum is 65535 lanes"));
        assertThatThrownBy(() -> parse("--world-size=2147483647"))
                .isInstanceOf(InvalidFeedException.class)
                .hasMessageContaining("option --world-size: 2147483647 ranks");
    }

    @Test
    void takesTheOptionsOfEveryFeed() throws IOException {
        TopicFeedPlan plan = parse(
                "--world-size=2",
                "--seed=9",
                "--throttle-groups=a",
                "--throttle-groups=b",
                "--bytes-ahead=10 mb",
                "--delivery=exactly-once",
                "--tier=memory:64m",
                "--tier=disk:" + directory.resolve("tier") + ":1g");
        assertThat(OrderSpec.fromJson(plan.feed().order()).seed()).isEqualTo(9);
        assertThat(plan.feed().epochs()).isEqualTo(3);
        assertThat(plan.feed().server().tiers().tiers())
                .containsExactly("memory:64m", "disk:" + directory.resolve("tier") + ":1g");
        assertThat(plan.throttle()).isEqualTo(new TopicFeedPlan.Throttle(List.of("a", "b"), 1, 10 << 20));
        assertThat(plan.target().exactlyOnce()).isTrue();
        assertThat(plan.target().bootstrap()).isEqualTo("a:1,b:2");
    }
}

package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.feeder.topic.LaneWriter.Step;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.server.StreamContent;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The records of lanes, without brokers. */
class LaneWriterTest {
    private static final int LANES = 4;

    @TempDir
    Path directory;

    private TestDataset dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 11, 2000, 21, 34, 3, 27, 20, 30, 1, 25, 32, 17);
    }

    private TopicFeedPlan plan(String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--to=kafka",
                "--bootstrap=nobody:1",
                "--topic=photos",
                "--batch-size=8",
                "--lanes=" + LANES,
                "--world-size=2",
                "--shuffle-window=64 kb",
                "--epochs=2"));
        args.addAll(List.of(options));
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
    }

    private static List<Step> write(StreamContent content, TopicFeedPlan plan, KafkaLane from) throws IOException {
        List<Step> steps = new ArrayList<>();
        try (TopicEpochs epochs = new TopicEpochs(plan, content)) {
            LaneWriter writer = new LaneWriter(epochs, from, OptionalLong.of(2));
            while (!writer.isDone()) {
                steps.addAll(writer.next());
            }
        }
        return steps;
    }

    private static List<Topic.Found> found(List<Step> steps) throws IOException {
        List<Topic.Found> found = new ArrayList<>();
        for (Step step : steps) {
            found.add(new Topic.Found(
                    RecordHeader.read(step.record().headers(), step.record().value(), "record"),
                    step.record().value()));
        }
        return found;
    }

    @Test
    void writesEachSampleAsARecordWhereItIsToldTo() throws IOException {
        TopicFeedPlan plan = plan("--value-format=avro");
        Map<String, String> keys = new TreeMap<>();
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content)) {
            for (int lane = 0; lane < LANES; lane++) {
                LaneWriter writer = new LaneWriter(epochs, KafkaLane.fresh(lane), OptionalLong.of(1));
                while (!writer.isDone()) {
                    for (Step step : writer.next()) {
                        byte[] value = step.record().value();
                        RecordHeader header = RecordHeader.read(step.record().headers(), value, "record");
                        assertThat(header.values()).isEqualTo(ValueFormat.AVRO);
                        if (header.kind() != RecordKind.BATCH) {
                            assertThat(new String(value, StandardCharsets.UTF_8))
                                    .contains("\"format\":\"avro\"");
                            continue;
                        }
                        assertThat(header.rows()).isEqualTo(1);
                        String key = new String(value, 1, value[0] / 2, StandardCharsets.UTF_8);
                        assertThat(keys.put(key, header.batch() + " " + header.row()))
                                .as(key)
                                .isNull();
                    }
                }
            }
        }
        assertThat(keys).hasSize(210);
        assertThat(keys.values()).doesNotHaveDuplicates();
    }

    @Test
    void aRecordWithoutBytesStandsForASampleThatIsLeftOut() throws IOException {
        byte[] bytes = Files.readAllBytes(dataset.file(0));
        bytes[(int) dataset.summary(0).headLength() + 5] ^= 1;
        Files.write(dataset.file(0), bytes);
        TopicFeedPlan plan = plan("--value-format=avro", "--on-corrupt=skip");
        int empty = 0;
        int full = 0;
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content)) {
            for (int lane = 0; lane < LANES; lane++) {
                LaneWriter writer = new LaneWriter(epochs, KafkaLane.fresh(lane), OptionalLong.of(1));
                while (!writer.isDone()) {
                    for (Step step : writer.next()) {
                        byte[] value = step.record().value();
                        RecordHeader header = RecordHeader.read(step.record().headers(), value, "record");
                        if (header.kind() == RecordKind.BATCH) {
                            assertThat(header.rows() + header.skipped()).isEqualTo(1);
                            assertThat(value.length == 0).isEqualTo(header.rows() == 0);
                            empty += header.skipped();
                            full += header.rows();
                        }
                    }
                }
            }
        }
        assertThat(empty).isEqualTo(1);
        assertThat(full).isEqualTo(209);
    }

    @ParameterizedTest
    @ValueSource(ints = {917_504, 6_000})
    void writesWhatTheOrderSaysAndGoesOnFromAnyRecord(int maxBytes) throws IOException {
        TopicFeedPlan plan = plan("--max-record-bytes=" + maxBytes);
        Map<Integer, List<Topic.Found>> lanes = new TreeMap<>();
        try (StreamContent content =
                StreamContent.open(plan.feed().spec(), plan.feed().serverOptions())) {
            for (int lane = 0; lane < LANES; lane++) {
                List<Step> all = write(content, plan, KafkaLane.fresh(lane));
                lanes.put(lane, found(all));
                assertThat(all).allMatch(step -> step.record().value().length <= maxBytes);
                for (int at = 0; at < all.size(); at += 9) {
                    KafkaLane state = all.get(at).after();
                    byte[] stored = new KafkaLaneSerializer().serialize(state);
                    KafkaLane restored = new KafkaLaneSerializer().deserialize(2, stored);
                    assertThat(restored).isEqualTo(state);
                    List<Topic.Found> rest = found(write(content, plan, restored));
                    List<Topic.Found> expected = found(all.subList(at + 1, all.size()));
                    assertThat(rest).hasSameSizeAs(expected);
                    for (int i = 0; i < rest.size(); i++) {
                        assertThat(rest.get(i).header())
                                .isEqualTo(expected.get(i).header());
                        assertThat(Arrays.equals(
                                        rest.get(i).value(), expected.get(i).value()))
                                .isTrue();
                    }
                }
            }
        }
        Topic.verify(dataset, OrderSpec.fromJson(plan.feed().order()), 2, lanes);
        long parts = lanes.values().stream()
                .flatMap(List::stream)
                .filter(record -> record.header().parts() > 1)
                .count();
        assertThat(parts > 0).isEqualTo(maxBytes < 10_000);
    }

    @ParameterizedTest
    @ValueSource(ints = {917_504, 6_000})
    void goesOnWhereItsStateSaysUnlessTheTopicEndsBefore(int maxBytes) throws IOException {
        TopicFeedPlan plan = plan("--max-record-bytes=" + maxBytes);
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content)) {
            LaneResume resume = new LaneResume(plan.target(), epochs);
            for (int lane = 0; lane < LANES; lane++) {
                List<Step> all = write(content, plan, KafkaLane.fresh(lane));
                List<Topic.Found> records = found(all);
                for (int state = 0; state < all.size(); state++) {
                    KafkaLane restored = all.get(state).after();
                    assertThat(LaneResume.inEmpty(0, restored)).isEqualTo(KafkaLane.fresh(lane));
                    assertThat(LaneResume.inEmpty(7, restored))
                            .isEqualTo(beginning(lane, restored.next().epoch()));
                    for (int last = 0; last < all.size(); last++) {
                        RecordHeader header = records.get(last).header();
                        long epoch = header.epoch() + (header.kind() == RecordKind.EPOCH_END ? 1 : 0);
                        assertThat(resume.after(header, restored))
                                .isEqualTo(last < state ? beginning(lane, epoch) : restored);
                    }
                }
            }
        }
    }

    private static KafkaLane beginning(int lane, long epoch) {
        return new KafkaLane(lane, RecordPosition.begin(epoch), EpochCounts.NONE, 0);
    }

    @Test
    void goesOnBehindNoRecordOfAnotherFeed() throws IOException {
        TopicFeedPlan plan = plan();
        TopicFeedPlan other = plan("--seed=9");
        RecordHeader foreign;
        try (StreamContent content =
                StreamContent.open(other.feed().spec(), other.feed().serverOptions())) {
            foreign = found(write(content, other, KafkaLane.fresh(0))).get(0).header();
        }
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content)) {
            assertThatThrownBy(() -> new LaneResume(plan.target(), epochs).after(foreign, KafkaLane.fresh(0)))
                    .isInstanceOf(TopicException.class)
                    .hasMessageContainingAll("partition 0", "another feed", "new topic");
        }
    }

    /** Returns what the first batch of a lane says that cannot be written, or nothing. */
    private String tooLarge(String... options) throws IOException {
        TopicFeedPlan plan = plan(options);
        try (StreamContent content =
                        StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
                TopicEpochs epochs = new TopicEpochs(plan, content)) {
            KafkaLane first = new KafkaLane(0, RecordPosition.batch(0, 0), EpochCounts.NONE, 0);
            new LaneWriter(epochs, first, OptionalLong.of(2)).next();
            return "";
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    @ParameterizedTest
    @CsvSource({"arrow, 2000", "avro, 1400"})
    void namesTheSampleThatFitsInNoRecordAndTheLimitThatIsEnough(String format, int most) throws IOException {
        String said = tooLarge("--value-format=" + format, "--max-record-bytes=" + most);
        assertThat(said)
                .matches("sample c\\d/r\\d+ takes \\d+ bytes in a record, the limit is " + most + ": .*"
                        + "--max-record-bytes \\d+ or more.*");
        for (int i = 0; i < 20 && !said.isEmpty(); i++) {
            List<String> limit = Advice.in(said, "--max-record-bytes");
            said = tooLarge("--value-format=" + format, limit.get(0), limit.get(1));
        }
        assertThat(said).isEmpty();
    }

    @Test
    void namesTheLimitForTheDescription() throws IOException {
        String said = tooLarge("--value-format=avro", "--max-record-bytes=1200");
        assertThat(said).startsWith("the description of stream ");
        List<String> limit = Advice.in(said, "--max-record-bytes");
        assertThat(tooLarge("--value-format=avro", limit.get(0), limit.get(1))).doesNotContain("the description");
    }

    @Test
    void writesNoDamagedSample() throws IOException {
        damage(3);
        TopicFeedPlan plan = plan();
        try (StreamContent content =
                StreamContent.open(plan.feed().spec(), plan.feed().serverOptions())) {
            assertThatThrownBy(() -> writeAll(content, plan))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("key 'c3/r");
        }
    }

    @Test
    void leavesDamagedSamplesOutWhereThatIsAskedFor() throws IOException {
        damage(3);
        TopicFeedPlan plan = plan("--on-corrupt=skip");
        try (StreamContent content =
                StreamContent.open(plan.feed().spec(), plan.feed().serverOptions())) {
            List<Step> steps = writeAll(content, plan);
            int skipped = 0;
            for (Topic.Found record : found(steps)) {
                skipped += record.header().epoch() == 0 ? record.header().skipped() : 0;
            }
            assertThat(skipped).isEqualTo(1);
        }
    }

    private static List<Step> writeAll(StreamContent content, TopicFeedPlan plan) throws IOException {
        List<Step> steps = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            steps.addAll(write(content, plan, KafkaLane.fresh(lane)));
        }
        return steps;
    }

    /** Turns a bit in the middle of a chunk's payload. */
    private void damage(int ordinal) throws IOException {
        byte[] bytes = Files.readAllBytes(dataset.file(ordinal));
        bytes[bytes.length / 2] ^= 8;
        Files.write(dataset.file(ordinal), bytes);
    }
}

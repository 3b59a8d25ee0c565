package dev.stoker.feeder.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.feeder.topic.LaneWriter.Step;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.follow.OtherVersionException;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.server.StreamContent;
import dev.stoker.server.TestDataset;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the records of a feed that follows its dataset, without brokers. */
class FollowedTopicTest {
    private static final int LANES = 4;

    @TempDir
    Path directory;

    private TestDataset dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 11, 300, 21, 34, 3, 27);
    }

    private TopicFeedPlan plan(String... options) throws IOException {
        List<String> args = new ArrayList<>(List.of(
                dataset.path().toString(),
                "--follow",
                "--to=kafka",
                "--bootstrap=nobody:1",
                "--topic=photos",
                "--batch-size=8",
                "--world-size=2",
                "--shuffle-window=64 kb",
                "--epochs=3"));
        args.addAll(List.of(options));
        return TopicFeedPlan.of(TopicFeedOptions.parse(args.toArray(new String[0])));
    }

    /** A feed with lanes in progress. */
    private static final class Feed implements AutoCloseable {
        final StreamContent content;
        final TopicEpochs epochs;
        final Map<Integer, LaneWriter> writers = new TreeMap<>();

        Feed(TopicFeedPlan plan) throws IOException {
            this.content = StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
            this.epochs = new TopicEpochs(plan, content);
        }

        Feed begin(KafkaLane lane) {
            writers.put(lane.lane(), new LaneWriter(epochs, lane, OptionalLong.of(3)));
            return this;
        }

        /** Writes a lane up to the beginning of an epoch. */
        List<Step> until(int lane, long epoch) throws IOException {
            List<Step> steps = new ArrayList<>();
            LaneWriter writer = writers.get(lane);
            while (writer.epoch() < epoch) {
                steps.addAll(writer.next());
            }
            return steps;
        }

        @Override
        public void close() {
            epochs.close();
            content.close();
        }
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

    private Feed fresh() throws IOException {
        Feed feed = new Feed(plan());
        for (int lane = 0; lane < LANES; lane++) {
            feed.begin(KafkaLane.fresh(lane));
        }
        return feed;
    }

    /** Returns three epochs, by lane. A version is committed before each epoch except the first. */
    private Map<Integer, List<Step>> three() throws IOException {
        Map<Integer, List<Step>> lanes = new TreeMap<>();
        try (Feed feed = fresh()) {
            for (int epoch = 0; epoch < 3; epoch++) {
                if (epoch > 0) {
                    dataset.append(epoch, 300, 13, 9 + epoch, 40, 5, 6, 7, 8, 9);
                }
                for (int lane = 0; lane < LANES; lane++) {
                    lanes.computeIfAbsent(lane, l -> new ArrayList<>()).addAll(feed.until(lane, epoch + 1));
                    if (epoch == 0 && lane == 1) {
                        // Too late for the epoch, which another lane has begun already.
                        dataset.append(7, 300, 17, 18);
                    }
                }
            }
        }
        return lanes;
    }

    /** Adds a field and gives one sample a value. */
    private void addField(String key) throws IOException {
        Field field = Field.nullable("added", ScalarType.INT64);
        ChunkBuilder builder = new ChunkBuilder(List.of(field), 4096);
        builder.beginRow(key);
        builder.setLong(0, 7);
        builder.endRow();
        ByteBuffer file = ByteBuffer.allocate(1 << 14);
        builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        NewValues values = new NewValues(List.of(field), AddedFields.of(List.of(field)));
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        try (ObjectStore store = Stores.open(dataset.path().toString())) {
            new SampleUpdate(Dataset.open(store), values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                    .commit("add", InstantSource.system(), "ada@host");
        }
    }

    @Test
    void theRecordsOfALaterVersionHaveTheFieldsOfTheFirstOne() throws IOException {
        try (Feed feed = fresh()) {
            addField(dataset.samples(0).get(1).key());
            GroupOrder later = feed.content.order(2);

            assertThat(later.stream().fields())
                    .isEqualTo(feed.content.order().stream().fields());
            assertThat(later.stream().chunks().added().fields())
                    .extracting(Field::name)
                    .containsExactly("added");
            for (int lane = 0; lane < LANES; lane++) {
                assertThat(feed.until(lane, 1)).isNotEmpty();
            }
        }
    }

    @Test
    void anEpochIsOfTheVersionThatWasNewestWhenItsFirstLaneBeganIt() throws IOException {
        Map<Integer, List<Topic.Found>> partitions = new TreeMap<>();
        for (Map.Entry<Integer, List<Step>> lane : three().entrySet()) {
            partitions.put(lane.getKey(), found(lane.getValue()));
        }
        Topic.verify(dataset, OrderSpec.fromJson(plan().feed().order()), List.of(1L, 3L, 4L), partitions);
        for (Topic.Found record : partitions.get(0)) {
            if (record.header().kind() != RecordKind.BATCH) {
                assertThat(new String(record.value(), StandardCharsets.UTF_8))
                        .contains(
                                "\"version\":" + record.header().version() + ",",
                                "\"fingerprint\":\"" + record.header().fingerprint() + "\"",
                                "\"follows\":true,\"epoch\":" + record.header().epoch() + ",");
            }
        }
    }

    @Test
    void theLanesStayThoseOfTheFirstVersion() throws IOException {
        assertThat(plan().lanes()).isEqualTo(LANES);
        assertThat(OrderSpec.fromJson(plan().feed().order()).lanes()).isEqualTo(LANES);
        try (TopicChoices choices = TopicChoices.open(plan().feed(), plan().target())) {
            choices.begin();
        }
        dataset.append(2, 300, 13, 9, 40, 5, 6, 7, 8, 9);
        assertThat(plan().lanes()).isEqualTo(LANES);
        assertThat(OrderSpec.fromJson(plan().feed().order()).lanes()).isEqualTo(LANES);
        assertThat(plan("--topic=another").lanes()).isEqualTo(12);
    }

    @Test
    void aFeedGoesOnFromAnyRecordWithTheSameBytesWhateverWasCommittedSince() throws IOException {
        Map<Integer, List<Step>> lanes = three();
        dataset.append(8, 300, 50);
        for (int lane = 0; lane < LANES; lane++) {
            List<Step> all = lanes.get(lane);
            for (int at = lane; at < all.size(); at += 5) {
                byte[] stored = new KafkaLaneSerializer().serialize(all.get(at).after());
                KafkaLane state = new KafkaLaneSerializer().deserialize(2, stored);
                assertThat(state).isEqualTo(all.get(at).after());
                try (Feed feed = new Feed(plan()).begin(state)) {
                    List<Step> rest = feed.until(lane, 3);
                    assertThat(rest).hasSize(all.size() - at - 1);
                    for (int i = 0; i < rest.size(); i++) {
                        assertThat(rest.get(i).record().value())
                                .isEqualTo(all.get(at + 1 + i).record().value());
                    }
                }
            }
        }
    }

    @Test
    void aLostChoiceIsWrittenAnewFromTheState() throws IOException {
        KafkaLane state;
        try (Feed feed = fresh()) {
            state = feed.writers.get(0).next().get(0).after();
        }
        assertThat(state.version()).isEqualTo(1);
        Path choice = choices().get(0);
        byte[] written = Files.readAllBytes(choice);
        Files.delete(choice);
        dataset.append(2, 300, 13);
        try (Feed feed = new Feed(plan()).begin(state)) {
            assertThat(feed.until(0, 1)).allMatch(step -> step.after().version() == (isOver(step) ? 0 : 1));
        }
        assertThat(Files.readString(choice)).contains("\"version\":1");
        assertThat(written).isNotEmpty();
        KafkaLane other = new KafkaLane(0, state.next(), state.counts(), 2);
        try (Feed feed = new Feed(plan()).begin(other)) {
            assertThatThrownBy(() -> feed.until(0, 1)).isInstanceOf(OtherVersionException.class);
        }
    }

    @Test
    void aLaneGoesBackToTheBeginningOfTheEpochThatItsTopicEndsInAtItsVersion() throws IOException {
        List<Step> all = three().get(2);
        List<Topic.Found> records = found(all);
        try (Feed feed = new Feed(plan())) {
            LaneResume resume = new LaneResume(plan().target(), feed.epochs);
            for (int state = 0; state < all.size(); state++) {
                KafkaLane restored = all.get(state).after();
                for (int last = 0; last < all.size(); last++) {
                    RecordHeader header = records.get(last).header();
                    KafkaLane next = resume.after(header, restored);
                    if (last >= state) {
                        assertThat(next).isEqualTo(restored);
                    } else if (header.kind() == RecordKind.EPOCH_END) {
                        assertThat(next)
                                .isEqualTo(new KafkaLane(
                                        2, RecordPosition.begin(header.epoch() + 1), EpochCounts.NONE, 0));
                    } else {
                        assertThat(next)
                                .isEqualTo(new KafkaLane(
                                        2, RecordPosition.begin(header.epoch()), EpochCounts.NONE, header.version()));
                    }
                }
            }
            RecordHeader first = records.get(0).header();
            RecordHeader other = RecordHeader.control(RecordKind.EPOCH_BEGIN, first.fingerprint(), 2, 0, 2);
            assertThatThrownBy(() -> resume.after(other, all.get(0).after())).isInstanceOf(OtherVersionException.class);
        }
    }

    private static boolean isOver(Step step) {
        return step.after().next().kind() == RecordKind.EPOCH_BEGIN;
    }

    private List<Path> choices() throws IOException {
        try (Stream<Path> files = Files.walk(dataset.path().resolve("_stoker/feeds"))) {
            return files.filter(file -> file.toString().matches(".*/epochs/.*[.]json"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void aVersionWithoutSamplesIsNotChosen() throws IOException {
        try (Feed feed = fresh()) {
            feed.until(0, 1);
            for (int chunk = 0; chunk < 4; chunk++) {
                dataset.removeChunk(chunk);
            }
            assertThatThrownBy(() -> feed.until(0, 2)).hasMessageContaining("Version 5 of dataset photos has no split");
            dataset.append(3, 300, 12, 13);
            assertThat(found(feed.until(0, 2)))
                    .allMatch(record -> record.header().version() == 6)
                    .isNotEmpty();
        }
    }

    @Test
    void aTopicOfAnotherFeedIsRefused() throws IOException {
        List<Topic.Found> records = found(three().get(0));
        RecordHeader last = records.get(records.size() - 1).header();
        require(plan(), last);
        require(plan("--topic=photos", "--epochs=9"), last);
        refuses(plan("--name=else"), last, "feed else has chosen no version for its epoch 2");
        refuses(plan("--topic=elsewhere"), last, "has chosen no version for its epoch 2");
        Throwable said = catchThrowable(() -> require(plan("--seed=5"), last));
        List<String> other = Advice.in(said.getMessage().replace("NAME", "elsewhere"), "--topic");
        assertThat(plan("--seed=5", other.get(0), other.get(1)).target().topic())
                .isEqualTo("elsewhere");
        refuses(plan("--seed=5"), last, "the fingerprint of its epoch 2 is " + last.fingerprint());
        RecordHeader later = RecordHeader.control(RecordKind.EPOCH_END, last.fingerprint(), 9, 2, 0);
        refuses(plan(), later, "its epoch 2 is of version 9, feed photos has chosen 4");
    }

    private static void require(TopicFeedPlan plan, RecordHeader last) throws IOException {
        try (TopicChoices choices = TopicChoices.open(plan.feed(), plan.target())) {
            choices.require(0, last);
        }
    }

    private static void refuses(TopicFeedPlan plan, RecordHeader last, String why) {
        assertThatThrownBy(() -> require(plan, last))
                .isInstanceOf(TopicException.class)
                .hasMessageContainingAll("partition 0, holds another feed", why, "--topic");
    }

    @Test
    void doesNotResumeAStateOfAFeedOfOneVersionWithinAnEpoch() throws IOException {
        KafkaLane state = new KafkaLane(1, RecordPosition.batch(0, 1), new EpochCounts(1, 8, 0), 0);
        try (Feed feed = new Feed(plan()).begin(state)) {
            assertThatThrownBy(() -> feed.until(1, 1)).hasMessageContaining("resume without --follow");
        }
    }
}

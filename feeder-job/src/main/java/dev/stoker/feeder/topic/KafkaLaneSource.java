package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.feeder.registry.JobClaim;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.Patience;
import dev.stoker.server.StreamContent;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/** A source of the records of a feed to a topic, lane by lane. */
public final class KafkaLaneSource implements Source<TopicRecord, KafkaLane, KafkaLaneState> {

    private static final long serialVersionUID = 1;

    /**
     * Bytes of records that a reader builds ahead: room for several of the largest records. Each garbage collection
     * copies them.
     */
    private static final long QUEUE_BYTES = 4L << 20;

    private final TopicFeedPlan plan;
    private final String fingerprint;
    private final String topicId;

    /**
     * @param fingerprint fingerprint of the feed, if all epochs have the same
     * @param topicId id of the topic when the job was created
     */
    public KafkaLaneSource(TopicFeedPlan plan, String fingerprint, String topicId) {
        this.plan = plan;
        this.fingerprint = fingerprint;
        this.topicId = topicId;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<TopicRecord, KafkaLane> createReader(SourceReaderContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        KafkaLaneReader.Availability availability = new KafkaLaneReader.Availability();
        OptionalLong epochs = plan.feed().spec().epochs();
        PumpHolder holder = new PumpHolder();
        LanePump pump = new LanePump(
                () -> open(holder), epochs, Math.max(QUEUE_BYTES, plan.target().maxRecordBytes()), availability);
        holder.pump = pump;
        return new KafkaLaneReader(
                pump,
                StopSignal.of(plan.feed().id()),
                TopicProgress.of(plan.feed().id()),
                availability);
    }

    /** Holds the pump that the throttle wakes. */
    private static final class PumpHolder {
        private volatile @Nullable LanePump pump;

        LanePump get() {
            return Objects.requireNonNull(pump, "it is set before the pump runs");
        }
    }

    private LanePump.Work open(PumpHolder holder) throws IOException {
        // The task may have restarted because the topic was deleted.
        TopicFeedStart.require(plan.target(), topicId);
        StreamContent content =
                StreamContent.open(plan.feed().spec(), plan.feed().serverOptions());
        TopicEpochs epochs = new TopicEpochs(plan, content);
        ThrottleGate throttle = plan.throttle().groups().isEmpty()
                ? ThrottleGate.OPEN
                : new ConsumerThrottle(
                        plan.target(),
                        plan.throttle(),
                        plan.lanes(),
                        TopicProgress.of(plan.feed().id()),
                        () -> holder.get().wake(),
                        e -> holder.get().fail(e));
        return new LanePump.Work() {
            @Override
            public TopicEpochs epochs() {
                return epochs;
            }

            @Override
            public ThrottleGate throttle() {
                return throttle;
            }

            @Override
            public List<KafkaLane> resume(List<KafkaLane> lanes) throws IOException {
                return plan.target().exactlyOnce() ? new LaneResume(plan.target(), epochs).of(lanes) : lanes;
            }

            @Override
            public void close() {
                throttle.close();
                epochs.close();
                content.close();
            }
        };
    }

    @Override
    public SplitEnumerator<KafkaLane, KafkaLaneState> createEnumerator(SplitEnumeratorContext<KafkaLane> context) {
        return enumerator(context, this::fresh);
    }

    private KafkaLaneEnumerator enumerator(
            SplitEnumeratorContext<KafkaLane> context, Patience.Call<KafkaLaneState> start) {
        JobClaim claim = new JobClaim(plan.feed().name(), context.metricGroup().getAllVariables());
        return new KafkaLaneEnumerator(context, claim, new TopicFeedWatch(plan.target()), start);
    }

    private KafkaLaneState fresh() throws IOException {
        if (!plan.follows()) {
            return TopicFeedStart.fresh(plan, TopicFeedStart.pinned(plan.target(), fingerprint));
        }
        try (TopicChoices choices = TopicChoices.open(plan.feed(), plan.target())) {
            return TopicFeedStart.fresh(plan, choices);
        }
    }

    @Override
    public SplitEnumerator<KafkaLane, KafkaLaneState> restoreEnumerator(
            SplitEnumeratorContext<KafkaLane> context, KafkaLaneState state) {
        if (state.topicId().isEmpty()) {
            return createEnumerator(context);
        }
        return enumerator(context, () -> {
            TopicFeedStart.require(plan.target(), state.topicId());
            return state;
        });
    }

    @Override
    public SimpleVersionedSerializer<KafkaLane> getSplitSerializer() {
        return new KafkaLaneSerializer();
    }

    @Override
    public SimpleVersionedSerializer<KafkaLaneState> getEnumeratorCheckpointSerializer() {
        return new KafkaLaneStateSerializer();
    }
}

package dev.stoker.feeder.source;

import dev.stoker.feeder.ledger.LedgerEncoder;
import dev.stoker.feeder.ledger.LedgerProgress;
import dev.stoker.feeder.plan.FeedNodes;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.enumerator.FeedEnumeratorState;
import dev.stoker.feeder.source.enumerator.FeedEnumeratorStateSerializer;
import dev.stoker.feeder.source.enumerator.LaneEnumerators;
import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.server.FeedNode;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SupportsSplitReassignmentOnRecovery;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/** Lanes of a feed as a Flink source; emits encoded ledger records. */
public final class LaneSource
        implements Source<byte[], LaneSplit, FeedEnumeratorState>, SupportsSplitReassignmentOnRecovery {

    private static final long serialVersionUID = 1;

    private final FeedPlan plan;

    public LaneSource(FeedPlan plan) {
        this.plan = plan;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<byte[], LaneSplit> createReader(SourceReaderContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        context.getUserCodeClassLoader().registerReleaseHookIfAbsent("stoker-feed-nodes", () -> {
            FeedNode.closeUnused();
            // Closing waits on a thread of Flink's RPC system, whose pool may create another thread for the time. Hooks
            // have no order.
            ClassLoaderCleanup.now();
        });
        // The name that Flink's own processes reach this machine by; trainers can too.
        String machine = context.getLocalHostName();
        return new LaneReader(
                context,
                () -> FeedNodes.open(plan, machine),
                new LedgerEncoder(plan),
                StopSignal.of(plan.id()),
                () -> LedgerProgress.published(plan.id(), context.getIndexOfSubtask()));
    }

    @Override
    public SplitEnumerator<LaneSplit, FeedEnumeratorState> createEnumerator(SplitEnumeratorContext<LaneSplit> context)
            throws IOException {
        return LaneEnumerators.create(plan, context, Optional.empty());
    }

    @Override
    public SplitEnumerator<LaneSplit, FeedEnumeratorState> restoreEnumerator(
            SplitEnumeratorContext<LaneSplit> context, FeedEnumeratorState state) throws IOException {
        return LaneEnumerators.create(plan, context, Optional.of(state));
    }

    @Override
    public SimpleVersionedSerializer<LaneSplit> getSplitSerializer() {
        return new LaneSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<FeedEnumeratorState> getEnumeratorCheckpointSerializer() {
        return new FeedEnumeratorStateSerializer();
    }
}

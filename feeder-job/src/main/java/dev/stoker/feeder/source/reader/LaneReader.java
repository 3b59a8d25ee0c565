package dev.stoker.feeder.source.reader;

import dev.stoker.feeder.source.event.GroupEvent;
import dev.stoker.feeder.source.event.LaneMapEvent;
import dev.stoker.feeder.source.event.ProgressEvent;
import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.flink.failure.Patience;
import dev.stoker.server.NodeLease;
import dev.stoker.server.feed.GroupFacts;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.PortTakenException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Reads acknowledgements: each record it emits is one ledger record in its final encoding. Trainers are served by the
 * node behind the lease, on its own threads, whatever this reader does.
 *
 * <p>All methods run on the task's mailbox thread.
 */
public final class LaneReader implements SourceReader<byte[], LaneSplit> {

    /** Receipts taken in one call of {@link #pollNext}, so that barriers pass soon. */
    private static final int MAX_ENTRIES = 4096;

    /** Facts of groups that are not sent again; above this, those of groups that are no more are forgotten. */
    private static final int MAX_TOLD = 4096;

    private final SourceReaderContext context;
    private final NodeOpener opener;
    private final RecordEncoder encoder;
    private final StopSignal stop;
    private final LongSupplier published;

    private final Map<String, LaneSplit> splits = new TreeMap<>();
    private final FinishedEpochs finished = new FinishedEpochs();
    private final DurableTokens tokens = new DurableTokens();
    private final UnencodableItems refused = new UnencodableItems(System::nanoTime);
    private final Set<GroupFacts> told = new HashSet<>();
    private final Runnable waker = this::wake;
    /** Written by the mailbox thread, completed by any. */
    private volatile CompletableFuture<Void> wake = CompletableFuture.completedFuture(null);

    private NodeLease lease;
    /** As the enumerator was told. */
    private Set<GroupName> owing = Set.of();

    private boolean finishing;
    private boolean stopTold;

    /** Opens this process's node. */
    public interface NodeOpener {
        NodeLease open() throws IOException;
    }

    /** Encodes what the node reports as a ledger record. */
    public interface RecordEncoder {
        byte[] encode(LedgerItem item);
    }

    /**
     * @param context Flink's context
     * @param opener opens the node when the reader starts
     * @param encoder encodes one ledger record
     * @param stop the wish to end the feed
     * @param published the checkpoint up to which records have been written to the ledger
     */
    public LaneReader(
            SourceReaderContext context,
            NodeOpener opener,
            RecordEncoder encoder,
            StopSignal stop,
            LongSupplier published) {
        this.context = context;
        this.opener = opener;
        this.encoder = encoder;
        this.stop = stop;
        this.published = published;
    }

    @Override
    public void start() {
        try {
            // The command has opened the datasets before. If their store is unavailable now, the task waits for it.
            lease = Patience.endlessAfterRestore().call("Opening the feed", opener::open);
        } catch (PortTakenException e) {
            // Trying again would only hide from the user that another process has the port.
            throw new SuppressRestartsException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the feed was being opened", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
        NodeGauges.register(context.metricGroup(), lease);
        splits.values().forEach(split -> lease.registerLane(split.stream(), split.lane()));
        finished.all().forEach(progress -> lease.restore(progress.consumer()));
        context.sendSourceEventToCoordinator(ServerEvent.of(
                lease.address(), lease.statusUrl().orElse(null), lease.unix(), lease.startedMs(), lease.mapsMadeMs()));
        stop.add(waker);
        report();
    }

    private void wake() {
        wake.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<byte[]> output) throws IOException {
        if (lease.failure().isPresent()) {
            throw lease.failure().get();
        }
        int taken = lease.drainAcks(item -> take(item, output), MAX_ENTRIES);
        tellGroups();
        boolean isStopNew = stop.requested() && !stopTold;
        stopTold |= isStopNew;
        if (finished.hasNews() || isStopNew || !lease.owing().equals(owing)) {
            report();
        }
        if (taken > 0) {
            return InputStatus.MORE_AVAILABLE;
        }
        return finishing ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
    }

    /** Whether the item was written. One that cannot be encoded would fail each restart of the task as well. */
    private boolean take(LedgerItem item, ReaderOutput<byte[]> output) {
        byte[] encoded;
        try {
            encoded = encoder.encode(item);
        } catch (RuntimeException e) {
            refused.log(item, e);
            return false;
        }
        output.collect(encoded);
        if (lease.awaits(GroupName.of(item.identity()))) {
            finished.add(item, lease.drainToken());
        }
        return true;
    }

    private void tellGroups() {
        List<GroupFacts> known = lease.groupFacts();
        for (GroupFacts facts : known) {
            if (told.add(facts)) {
                context.sendSourceEventToCoordinator(GroupEvent.of(facts));
            }
        }
        if (told.size() > MAX_TOLD) {
            told.retainAll(Set.copyOf(known));
        }
    }

    private void report() {
        long idleSinceMs = lease.idleSince().map(Instant::toEpochMilli).orElse(0L);
        owing = lease.owing();
        context.sendSourceEventToCoordinator(
                ProgressEvent.of(finished.takeNews(), owing, idleSinceMs, stop.requested()));
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (finishing) {
            return CompletableFuture.completedFuture(null);
        }
        if (wake.isDone()) {
            CompletableFuture<Void> next = new CompletableFuture<>();
            wake = next;
            CompletableFuture<Void> unused = lease.acksAvailable().whenComplete((done, failure) -> next.complete(null));
            if (stop.requested() && !stopTold) {
                next.complete(null);
            }
        }
        return wake;
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
        if (event instanceof LaneMapEvent map) {
            lease.updateLaneMap(map.stream(), map.laneMap());
            report();
        } else if (event instanceof GroupEvent group) {
            told.add(group.facts());
            lease.learn(group.facts());
        } else {
            throw new IllegalArgumentException("unknown source event " + event);
        }
    }

    @Override
    public void addSplits(List<LaneSplit> added) {
        for (LaneSplit split : added) {
            finished.restore(split.progress());
            if (split.hasLane()) {
                splits.put(split.splitId(), split);
            }
            if (lease != null) {
                if (split.hasLane()) {
                    lease.registerLane(split.stream(), split.lane());
                }
                split.progress().forEach(progress -> lease.restore(progress.consumer()));
            }
        }
    }

    @Override
    public void notifyNoMoreSplits() {
        finishing = true;
        wake();
    }

    @Override
    public List<LaneSplit> snapshotState(long checkpointId) {
        tokens.begin(checkpointId, lease.drainToken());
        List<LaneSplit> state = new ArrayList<>(splits.values());
        List<ConsumerProgress> progress = finished.all();
        if (!progress.isEmpty()) {
            state.add(LaneSplit.of(progress));
        }
        return state;
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        tokens.complete(checkpointId, published.getAsLong()).ifPresent(this::markDurable);
    }

    private void markDurable(long token) {
        lease.markDurable(token);
        finished.markDurable(token);
        if (finished.hasNews() || !lease.owing().equals(owing)) {
            report();
        }
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) {
        tokens.abort(checkpointId);
    }

    @Override
    public void close() {
        stop.remove(waker);
        if (lease != null) {
            lease.close();
        }
    }
}

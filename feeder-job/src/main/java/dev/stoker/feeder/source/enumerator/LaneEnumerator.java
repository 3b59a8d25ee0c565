package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.registry.FeedRunningException;
import dev.stoker.feeder.source.event.GroupEvent;
import dev.stoker.feeder.source.event.LaneMapEvent;
import dev.stoker.feeder.source.event.ProgressEvent;
import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.schemas.protocol.LaneMap;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places lanes on readers, tells every reader who serves which lane, and ends the job. Ownership is advice: any server
 * serves any lane, so nothing here stands between a trainer and its next batch.
 *
 * <p>Every method runs on Flink's coordinator thread of this source.
 */
final class LaneEnumerator implements SplitEnumerator<LaneSplit, FeedEnumeratorState> {

    private static final Logger LOG = LoggerFactory.getLogger(LaneEnumerator.class);
    private static final Duration TICK = Duration.ofSeconds(1);
    /** Lane maps go out at least every this many ticks, so that a lost one is replaced. */
    private static final int MAP_TICKS = 5;
    /** How many ticks a name may belong to another feed, which can be one that is just ending. */
    private static final int CLAIM_TICKS = 10;

    private final SplitEnumeratorContext<LaneSplit> context;
    private final List<StreamLanes> streams;
    private final LaneMaps maps;
    private final FeedEnd end;

    private final Map<String, LaneSplit> pending = new TreeMap<>();
    private final Map<String, Integer> owner = new HashMap<>();
    private final Map<Integer, ServerEvent> servers = new TreeMap<>();
    private int ticks;
    private int refusals;
    /** Whether the feed's name belongs to this job. Until then, nothing is placed, published or withdrawn. */
    private boolean claimed;

    private boolean ended;

    LaneEnumerator(
            SplitEnumeratorContext<LaneSplit> context,
            List<StreamLanes> streams,
            LaneMaps maps,
            JobEnd end,
            Duration idleTimeout,
            Optional<FeedEnumeratorState> state) {
        this.context = context;
        this.streams = List.copyOf(streams);
        this.maps = maps;
        this.end = new FeedEnd(end, this.streams, idleTimeout, state.isPresent());
        state.ifPresent(before -> {
            takeBack(before.pending());
            this.end.add(before.progress());
        });
    }

    @Override
    public void start() {
        context.callAsync(System::currentTimeMillis, this::tick, TICK.toMillis(), TICK.toMillis());
        claim();
    }

    private void claim() {
        context.callAsync(
                () -> {
                    maps.claim();
                    return true;
                },
                (done, failure) -> claimed(failure));
    }

    private void claimed(@Nullable Throwable failure) {
        if (claimed) {
            return;
        }
        if (failure instanceof FeedRunningException) {
            refusals++;
            if (refusals > CLAIM_TICKS) {
                throw new FlinkRuntimeException(failure.getMessage(), new SuppressRestartsException(failure));
            }
            return;
        }
        if (failure != null) {
            LOG.warn("The name of the feed cannot be locked; a second feed of this name would not be noticed", failure);
        }
        claimed = true;
        // Trainers also return to a feed whose process was killed, and only the feed's file tells.
        context.callAsync(maps::isGoingOn, (known, unknown) -> {
            if (unknown != null || known) {
                end.resume();
            }
        });
        context.callAsync(maps::takeStopRequest, this::stopIfRequested, TICK.toMillis(), TICK.toMillis());
        place();
        announce();
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {
        throw new UnsupportedOperationException("lanes are placed, not requested");
    }

    @Override
    public void addReader(int subtask) {
        servers.remove(subtask);
        end.failed(subtask);
        owner.values().removeIf(reader -> reader == subtask);
        ReaderInfo info = context.registeredReaders().get(subtask);
        if (info != null) {
            takeBack(info.<LaneSplit>getReportedSplitsOnRegistration());
        }
        if (ended) {
            context.signalNoMoreSplits(subtask);
        }
    }

    @Override
    public void addSplitsBack(List<LaneSplit> splits, int subtask) {
        servers.remove(subtask);
        end.failed(subtask);
        owner.values().removeIf(reader -> reader == subtask);
        takeBack(splits);
        announce();
    }

    private void takeBack(Collection<LaneSplit> splits) {
        for (LaneSplit split : splits) {
            if (split.hasLane()) {
                pending.put(split.splitId(), split);
            }
            end.add(split.progress());
        }
    }

    @Override
    public void handleSourceEvent(int subtask, SourceEvent event) {
        if (event instanceof ServerEvent server) {
            servers.put(subtask, server);
            end.serves(subtask, server.address(), server.startedMs());
            if (maps.follow(server.mapsMadeMs())) {
                end.resume();
            }
            place();
            announce();
        } else if (event instanceof ProgressEvent progress) {
            end.heard(subtask, progress);
            if (progress.stopRequested()) {
                finish("a stop was requested");
            }
        } else if (event instanceof GroupEvent group) {
            for (int reader : servers.keySet()) {
                if (reader != subtask && context.registeredReaders().containsKey(reader)) {
                    context.sendEventToSourceReader(reader, group);
                }
            }
        } else {
            throw new IllegalArgumentException("unknown source event " + event);
        }
    }

    /** Gives out what has no reader, once every reader's server is known. */
    private void place() {
        if (!claimed || servers.size() < context.currentParallelism()) {
            return;
        }
        for (StreamLanes stream : streams) {
            for (int lane = 0; lane < stream.lanes(); lane++) {
                LaneSplit fresh = LaneSplit.of(stream.name(), lane);
                if (!owner.containsKey(fresh.splitId())) {
                    pending.putIfAbsent(fresh.splitId(), fresh);
                }
            }
        }
        Map<Integer, Integer> owned = new HashMap<>();
        owner.values().forEach(reader -> owned.merge(reader, 1, Integer::sum));
        Map<Integer, String> hosts = new TreeMap<>();
        servers.forEach((reader, server) -> hosts.put(reader, server.host()));
        LaneAssigner.assign(new ArrayList<>(pending.keySet()), hosts, owned).forEach((lane, reader) -> {
            context.assignSplit(pending.remove(lane), reader);
            owner.put(lane, reader);
        });
    }

    /** Sends new lane maps to all readers; a reader that just failed is left out and hears of them on its return. */
    private void announce() {
        if (claimed && !servers.isEmpty()) {
            tell(maps.next(streams, owner, servers));
        }
    }

    private void tell(Map<String, LaneMap> next) {
        ticks = 0;
        for (int reader : servers.keySet()) {
            if (context.registeredReaders().containsKey(reader)) {
                next.forEach((stream, map) -> context.sendEventToSourceReader(reader, LaneMapEvent.of(stream, map)));
            }
        }
        List<String> statusUrls = servers.values().stream()
                .map(ServerEvent::statusUrl)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        boolean complete = servers.size() == context.currentParallelism() && pending.isEmpty();
        context.callAsync(
                () -> {
                    maps.publish(next, statusUrls, complete);
                    return true;
                },
                (done, failure) -> {
                    if (failure != null) {
                        LOG.warn("The hint file of the lane map was not written; trainers are not affected", failure);
                    }
                });
    }

    private void stopIfRequested(Boolean requested, Throwable failure) {
        if (failure != null) {
            LOG.warn("Cannot look for a request to end the feed; trying again", failure);
        } else if (requested) {
            finish("requested by stoker stop");
        }
    }

    private void tick(Long nowMs, Throwable failure) {
        if (!claimed) {
            claim();
            return;
        }
        end.tick(nowMs, context.currentParallelism()).ifPresent(this::finish);
        if (++ticks >= MAP_TICKS && !servers.isEmpty()) {
            tell(maps.again(streams, owner, servers));
        }
    }

    private void finish(String reason) {
        if (!ended && claimed) {
            ended = true;
            LOG.info("The feed ends: {}", reason);
            // The job may finish at any time after the signal, and Flink then unloads its classes.
            context.callAsync(
                    () -> {
                        maps.release();
                        return true;
                    },
                    (done, failure) -> {
                        if (failure != null) {
                            LOG.warn(
                                    "The uses of versions were not deleted; stoker expire DATASET --end-feed FEED --yes"
                                            + " deletes them",
                                    failure);
                        }
                        context.registeredReaders().keySet().forEach(context::signalNoMoreSplits);
                    });
        }
    }

    @Override
    public FeedEnumeratorState snapshotState(long checkpointId) {
        return new FeedEnumeratorState(new ArrayList<>(pending.values()), end.progress());
    }

    @Override
    public void close() throws IOException {
        try {
            if (claimed) {
                maps.withdraw(ended);
            }
        } catch (IOException | RuntimeException | Error e) {
            // Flink swallows it.
            LOG.error(
                    "The entry of the feed may be unchanged, so that stoker ps and stop take it for running. Uses of"
                            + " versions may remain; stoker expire DATASET --end-feed FEED --yes deletes them",
                    e);
            throw e;
        } finally {
            maps.unclaim();
        }
    }
}

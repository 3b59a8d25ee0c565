package dev.stoker.client.topic;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.delivery.Participant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The boundary between two epochs of a topic whose feed follows its dataset: determines the version of the next one.
 * For the receiving thread.
 */
final class EpochBoundary {
    private final TopicTarget target;
    private final ClientOptions options;
    private final TopicOpening opening;
    private final TopicSearch search;
    private final TopicState state;

    EpochBoundary(
            TopicTarget target, ClientOptions options, TopicOpening opening, TopicSearch search, TopicState state) {
        this.target = target;
        this.options = options;
        this.opening = opening;
        this.search = search;
        this.state = state;
    }

    /**
     * Checks whether an epoch has begun. Commits everything before it as consumed, because the feed may wait for that
     * before it begins the epoch.
     *
     * @return the description from the control record; empty if there is none yet
     */
    Optional<TopicInfo> look(TopicState.EpochChange change) {
        int lanes = state.info().laneRows().size();
        Map<Integer, Long> passed = new TreeMap<>();
        for (int lane = 0; lane < lanes; lane++) {
            if (tellsOf(lane, lanes)) {
                passed.put(lane, search.edge(lane, RecordPosition.begin(change.epoch())));
            }
        }
        Optional<TopicInfo> found = opening.epoch(search, change.epoch()).map(info -> info.in(change.epoch()));
        found.ifPresent(info -> opening.requireLanes(lanes, info));
        state.lock.lock();
        try {
            state.passBy(passed);
            if (found.isEmpty()
                    && System.nanoTime() - change.sinceNs()
                            > options.batchTimeout().toNanos()) {
                state.late = new BatchTimeoutException(target + ": epoch " + change.epoch()
                        + " did not begin in partition 0 within "
                        + options.batchTimeout().toMillis()
                        + " ms. Check that the feed is running and is not waiting for another group of its"
                        + " --throttle-groups, or raise batchTimeout");
                state.changed.signalAll();
            }
        } finally {
            state.lock.unlock();
        }
        return found;
    }

    /**
     * Whether this client reports the lane's progress: no other member of the group reads the lane, or all members do.
     */
    private boolean tellsOf(int lane, int lanes) {
        Participant me = options.participant();
        boolean isShared = state.info().order().laneOrder() == LaneOrder.FIXED && lanes % me.worldSize() == 0;
        return !isShared || lane % me.worldSize() == me.rank();
    }
}

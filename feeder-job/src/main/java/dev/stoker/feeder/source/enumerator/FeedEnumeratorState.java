package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import java.util.List;

/**
 * The checkpointed state of the enumerator. It does not contain lanes that readers own: readers report them when they
 * register again, and a lane that no reader reports is assigned again.
 *
 * @param pending lanes that wait for a reader
 * @param progress progress of consumers, as readers have reported it
 */
public record FeedEnumeratorState(List<LaneSplit> pending, List<ConsumerProgress> progress) {

    public FeedEnumeratorState {
        pending = List.copyOf(pending);
        progress = List.copyOf(progress);
    }
}

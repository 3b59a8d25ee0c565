package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import java.util.List;

/**
 * Checkpointed state of the enumerator. Lanes that readers own are not in it: readers report them when they register
 * again, and a lane that nobody reports is placed anew.
 *
 * @param pending lanes that wait for a reader
 * @param progress of consumers, as readers have reported it
 */
public record EnumeratorState(List<LaneSplit> pending, List<ConsumerProgress> progress) {

    public EnumeratorState {
        pending = List.copyOf(pending);
        progress = List.copyOf(progress);
    }
}

package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerEnd;
import dev.stoker.feeder.source.split.LaneSplit;
import java.util.List;

/**
 * Checkpointed state of the enumerator. Lanes that readers own are not in it: readers report them when they register
 * again, and a lane that nobody reports is placed anew.
 *
 * @param pending lanes that wait for a reader
 * @param ends ends that readers have reported
 */
public record EnumeratorState(List<LaneSplit> pending, List<ConsumerEnd> ends) {

    public EnumeratorState {
        pending = List.copyOf(pending);
        ends = List.copyOf(ends);
    }

    /** The state of a job that has never run. */
    public static EnumeratorState empty() {
        return new EnumeratorState(List.of(), List.of());
    }
}

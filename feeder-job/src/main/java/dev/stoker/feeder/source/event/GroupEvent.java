package dev.stoker.feeder.source.event;

import dev.stoker.server.feed.GroupFacts;
import org.apache.flink.api.connector.source.SourceEvent;

/**
 * What one server knows of a group, passed on by the enumerator so that order specs and fences hold on all servers.
 *
 * @param stream name of the stream
 * @param group name of the group
 * @param order the group's order spec as JSON
 * @param run the greatest run seen
 * @param worldSize ranks of that run
 */
public record GroupEvent(String stream, String group, String order, long run, int worldSize) implements SourceEvent {

    public static GroupEvent of(GroupFacts facts) {
        return new GroupEvent(facts.stream(), facts.group(), facts.order(), facts.run(), facts.worldSize());
    }

    public GroupFacts facts() {
        return new GroupFacts(stream, group, order, run, worldSize);
    }
}

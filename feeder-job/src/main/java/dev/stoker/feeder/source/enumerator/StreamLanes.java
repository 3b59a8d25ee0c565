package dev.stoker.feeder.source.enumerator;

import java.io.Serializable;
import java.util.Objects;

/**
 * How many lanes a stream has under the feed's default order spec.
 *
 * @param name name of the stream
 * @param lanes number of lanes, at least 1
 */
public record StreamLanes(String name, int lanes) implements Serializable {

    public StreamLanes {
        Objects.requireNonNull(name, "name");
        if (lanes < 1) {
            throw new IllegalArgumentException("a stream has at least one lane: " + name + " has " + lanes);
        }
    }
}

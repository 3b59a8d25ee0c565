package dev.stoker.server.feed;

import java.util.Objects;

/**
 * A group of trainers among those of all streams.
 *
 * @param stream the stream's name
 * @param name the group's name
 */
public record GroupName(String stream, String name) {
    public GroupName {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(name, "name");
    }

    /** The group of a trainer. */
    public static GroupName of(Identity trainer) {
        return new GroupName(trainer.stream(), trainer.group());
    }
}

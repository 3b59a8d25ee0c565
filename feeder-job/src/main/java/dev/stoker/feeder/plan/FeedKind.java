package dev.stoker.feeder.plan;

import dev.stoker.flink.arguments.JobKind;

/** The target of a feed, for options that only one of them has. */
public enum FeedKind implements JobKind {
    TRAINERS("feeds to trainers"),
    KAFKA("feeds to Kafka");

    private final String plural;

    FeedKind(String plural) {
        this.plural = plural;
    }

    @Override
    public String plural() {
        return plural;
    }
}

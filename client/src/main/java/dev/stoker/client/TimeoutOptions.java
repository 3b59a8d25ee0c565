package dev.stoker.client;

import dev.stoker.client.errors.PlaceTakenException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Collects how long a client waits, see {@link FeedClientBuilder#timeouts}. */
public final class TimeoutOptions {
    private Duration connectTimeout = Duration.ofSeconds(30);
    private Duration reconnectTimeout = Duration.ofMinutes(10);
    private Duration batchTimeout = Duration.ofMinutes(5);
    private Optional<Duration> placeTimeout = Optional.empty();

    TimeoutOptions() {}

    /** Sets how long to wait for the first feeder to answer; 30 s by default. */
    public TimeoutOptions connectTimeout(Duration limit) {
        connectTimeout = limit;
        return this;
    }

    /** Sets how long the client waits for a batch while no feeder is connected; 10 min by default. */
    public TimeoutOptions reconnectTimeout(Duration limit) {
        reconnectTimeout = limit;
        return this;
    }

    /** Sets how long the client waits for a batch from a connected feeder; 5 min by default. */
    public TimeoutOptions batchTimeout(Duration limit) {
        batchTimeout = limit;
        return this;
    }

    /**
     * Sets how long to wait for a place that another live process has, before a {@link PlaceTakenException}. By default
     * {@code STOKER_PLACE_TIMEOUT} in seconds, or 30 s. Zero does not wait.
     */
    public TimeoutOptions placeTimeout(Duration limit) {
        placeTimeout = Optional.of(limit);
        return this;
    }

    Duration connectTimeout() {
        return connectTimeout;
    }

    Duration reconnectTimeout() {
        return reconnectTimeout;
    }

    Duration batchTimeout() {
        return batchTimeout;
    }

    Duration placeTimeout(TrainerEnvironment trainer) {
        Duration patience = placeTimeout.orElseGet(trainer::placeTimeout);
        if (patience.isNegative()) {
            throw new IllegalArgumentException("placeTimeout is " + patience + "; it must not be negative");
        }
        return patience;
    }

    void check(List<String> problems) {
        for (Duration duration : List.of(connectTimeout, reconnectTimeout, batchTimeout)) {
            if (duration.isNegative() || duration.isZero()) {
                problems.add("a time-out is " + duration + "; it must be positive");
            }
        }
    }
}

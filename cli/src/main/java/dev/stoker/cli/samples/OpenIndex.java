package dev.stoker.cli.samples;

import dev.stoker.cli.redis.RedisAddresses;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.SampleIndex;
import java.io.IOException;
import java.util.Optional;

/** The sample index of a version, with a Redis server that is asked first. The verb closes it. */
final class OpenIndex implements AutoCloseable {

    private final Snapshot snapshot;
    private final SampleIndex index;
    private final Optional<RedisAddresses> places;

    private OpenIndex(Snapshot snapshot, SampleIndex index, Optional<RedisAddresses> places) {
        this.snapshot = snapshot;
        this.index = index;
        this.places = places;
    }

    static OpenIndex open(OpenDataset open, RedisOption redis) throws IOException {
        Optional<RedisAddresses> places = redis.open(open.dataset());
        try {
            Snapshot snapshot = open.snapshot();
            SampleIndex index = places.isPresent()
                    ? SampleIndex.open(open.dataset(), snapshot, places.get())
                    : SampleIndex.open(open.dataset(), snapshot);
            return new OpenIndex(snapshot, index, places);
        } catch (IOException | RuntimeException e) {
            places.ifPresent(RedisAddresses::close);
            throw e;
        }
    }

    /** Returns the version. */
    Snapshot snapshot() {
        return snapshot;
    }

    SampleIndex index() {
        return index;
    }

    @Override
    public void close() {
        places.ifPresent(RedisAddresses::close);
    }
}

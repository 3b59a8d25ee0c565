package dev.stoker.mount.tree;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The times at which versions were committed. Reads each log entry once. Thread-safe. */
final class CommitTimes {

    private static final Logger LOG = LoggerFactory.getLogger(CommitTimes.class);

    private final Dataset dataset;
    private final Map<Long, Long> known = new ConcurrentHashMap<>();

    CommitTimes(Dataset dataset) {
        this.dataset = dataset;
    }

    /** Returns the time of a version that exists, in milliseconds since 1970. */
    long of(long version) throws IOException {
        Long time = known.get(version);
        if (time == null) {
            time = read(version);
            known.put(version, time);
        }
        return time;
    }

    private long read(long version) throws IOException {
        try {
            return dataset.entry(version, version).committedMs();
        } catch (NoSuchObjectException | CorruptDataException e) {
            // The chunk table suffices to read samples, so a lost entry must not hide them.
            LOG.warn("The files of version {} have the time of the dataset's creation: {}", version, e.getMessage());
            return dataset.info().created().toEpochMilli();
        }
    }
}

package dev.stoker.client.topic;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Reads single records of a topic, and finds positions in it by guesses and bisection. One thread. */
final class TopicSearch {
    /** Guesses before a search halves the remaining interval. */
    private static final int GUESSES = 4;
    /** The search skips up to this number of records instead of moving. */
    private static final int NEAR = 8;
    /**
     * The search does not skip more bytes than this: a broker returns whole batches of records, up to a megabyte each.
     */
    private static final long FAR_BYTES = 2 << 20;

    /**
     * The offset of a position.
     *
     * @param offset the record's offset, or the earliest that it can get
     * @param record empty if it is not yet written
     */
    record Place(long offset, Optional<VerifiedRecord> record) {}

    private final TopicTarget target;
    private final TopicLog log;
    private final Duration patience;
    private final BooleanSupplier isClosed;
    /** The last record read, if the log continues after it. */
    private @Nullable VerifiedRecord last;
    /** Empty until the contents of the lanes are known. */
    private Optional<TopicGuesses> guesses = Optional.empty();

    /** @param patience how long brokers may be unavailable */
    TopicSearch(TopicTarget target, TopicLog log, Duration patience, BooleanSupplier isClosed) {
        this.target = target;
        this.log = log;
        this.patience = patience;
        this.isClosed = isClosed;
    }

    /** Enables guesses, based on the contents of the lanes. */
    void guess(TopicInfo info) {
        guesses = Optional.of(new TopicGuesses(info));
    }

    /** The first available offset. */
    long begin(int partition) {
        Patience waiting = new Patience(partition);
        Optional<Long> begin = log.begin(partition);
        while (begin.isEmpty()) {
            waiting.require();
            begin = log.begin(partition);
        }
        return begin.get();
    }

    private long end(int partition) {
        Patience waiting = new Patience(partition);
        Optional<Long> end = log.end(partition);
        while (end.isEmpty()) {
            waiting.require();
            end = log.end(partition);
        }
        return end.get();
    }

    /** The first committed record at or after an offset; empty at the end. */
    Optional<VerifiedRecord> at(int partition, long offset) {
        return at(partition, offset, end(partition));
    }

    private Optional<VerifiedRecord> at(int partition, long offset, long end) {
        if (offset >= end) {
            return Optional.empty();
        }
        if (last == null || last.header().lane() != partition || last.offset() + 1 != offset) {
            last = null;
            log.look(partition, offset);
        }
        return next(partition, end);
    }

    /** The next record. The entry before it was not the last below {@code end}, or only markers follow. */
    private Optional<VerifiedRecord> next(int partition, long end) {
        Patience waiting = new Patience(partition);
        while (true) {
            Optional<VerifiedRecord> record = read();
            if (record.isPresent()) {
                return record;
            }
            if (log.position() >= end) {
                return Optional.empty();
            }
            waiting.require();
        }
    }

    private Optional<VerifiedRecord> read() {
        Optional<VerifiedRecord> record = log.next().map(entry -> VerifiedRecord.of(target, entry));
        record.ifPresent(found -> {
            last = found;
            guesses.ifPresent(known -> known.saw(found));
        });
        return record;
    }

    /** The last committed record, or one of the last few; empty if there is none. */
    Optional<VerifiedRecord> last(int partition) {
        long low = begin(partition);
        long high = end(partition);
        Optional<VerifiedRecord> found = Optional.empty();
        // Markers of transactions take offsets, too.
        for (long back = 1; found.isEmpty() && back < 2 * (high - low); back *= 2) {
            found = at(partition, Math.max(low, high - back), high);
        }
        return found;
    }

    /**
     * The offset of a position, or the earliest that it can get; the partition's beginning if the position is before
     * it.
     */
    long edge(int partition, RecordPosition wanted) {
        long low = begin(partition);
        Optional<VerifiedRecord> oldest = at(partition, low);
        return oldest.isEmpty() || oldest.get().position().compareTo(wanted) >= 0
                ? low
                : find(partition, wanted).offset();
    }

    /**
     * Finds a position.
     *
     * @throws FeedException if the partition has later records, but not this one
     */
    Place find(int partition, RecordPosition wanted) {
        long low = begin(partition);
        long high = end(partition);
        long before = low - 1;
        long after = high;
        Optional<VerifiedRecord> found = Optional.empty();
        for (int tries = 0; after - before > 1; tries++) {
            long middle = pivot(partition, wanted, tries, before, after);
            Optional<VerifiedRecord> record = at(partition, middle, high);
            if (record.isEmpty() || record.get().offset() >= after) {
                after = middle; // only transaction markers follow
            } else if (record.get().position().equals(wanted)) {
                return new Place(record.get().offset(), record);
            } else if (record.get().position().compareTo(wanted) < 0) {
                before = record.get().offset();
            } else {
                after = middle;
                found = record;
            }
        }
        if (found.isEmpty()) {
            return new Place(before + 1, found);
        }
        VerifiedRecord ahead = found.get();
        if (before < low) {
            throw new FeedException(target + ", partition " + partition + ": " + wanted
                    + " is no longer there; the partition begins with "
                    + ahead.position() + " (offset " + ahead.offset()
                    + "): " + why(low));
        }
        found = scan(partition, wanted, ahead.offset());
        if (found.isEmpty()) {
            throw gap(partition, wanted, ahead);
        }
        return new Place(found.get().offset(), found);
    }

    /** Why a partition lacks the records before its first one, judged by its first offset. */
    static String why(long begin) {
        return begin == 0
                ? "nothing was ever deleted from it, so the topic was recreated while its feed wrote: feed into a"
                        + " new topic"
                : "the topic's retention.ms or retention.bytes is too short for this trainer's position, or the"
                        + " topic was recreated";
    }

    /** The next offset to read, between two others. */
    private long pivot(int partition, RecordPosition wanted, int tries, long before, long after) {
        if (guesses.isEmpty() || tries >= GUESSES + NEAR) {
            return tries == 0 ? before + 1 : before + (after - before) / 2;
        }
        boolean isAtLast = last != null && last.header().lane() == partition && last.offset() == before;
        if (last != null && isAtLast && guesses.get().distance(partition, last.position(), wanted) <= NEAR) {
            return before + 1; // The same fetch probably returned it.
        }
        long guess = tries < GUESSES ? guesses.get().offset(partition, wanted) : before + (after - before) / 2;
        return Math.min(after - 1, Math.max(before + 1, guess));
    }

    /**
     * Returns the record of a later position in the same partition, if it follows shortly after {@code before} and
     * arrives at once. Skips the records in between.
     */
    @SuppressWarnings("ReferenceEquality") // The last record read is one object.
    Optional<VerifiedRecord> behind(VerifiedRecord before, RecordPosition wanted) {
        int partition = before.header().lane();
        Optional<VerifiedRecord> record = Optional.of(before);
        while (record.isPresent() && record.get().position().compareTo(wanted) < 0) {
            VerifiedRecord at = record.get();
            long distance = guesses.map(known -> known.distance(partition, at.position(), wanted))
                    .orElse(1L);
            if (distance * at.value().length > FAR_BYTES) {
                return Optional.empty();
            }
            if (at != last) {
                log.look(partition, at.offset() + 1);
            }
            record = read();
        }
        return record.filter(found -> found.position().equals(wanted));
    }

    /** Finds the first record of a position before an offset, by reading from the partition's beginning. */
    Optional<VerifiedRecord> scan(int partition, RecordPosition wanted, long end) {
        Optional<VerifiedRecord> record = at(partition, begin(partition), end);
        while (record.isPresent() && record.get().offset() < end) {
            if (record.get().position().equals(wanted)) {
                return record;
            }
            record = record.get().offset() + 1 < end ? next(partition, end) : Optional.empty();
        }
        return Optional.empty();
    }

    /** The error for a missing record. */
    FeedException gap(int partition, RecordPosition wanted, VerifiedRecord ahead) {
        return new FeedException(VerifiedRecord.where(target, partition, ahead.offset()) + ": " + ahead.position()
                + " found where " + wanted
                + " was expected, and no record before it has that position: the topic has a gap. Records were"
                + " deleted, or the topic was recreated: feed into a new topic");
    }

    /** One wait for the brokers. */
    private final class Patience {
        private final long begunNs = System.nanoTime();
        private final int partition;

        Patience(int partition) {
            this.partition = partition;
        }

        void require() {
            if (isClosed.getAsBoolean()) {
                throw new FeedException("the feed is closed");
            }
            if (System.nanoTime() - begunNs > patience.toNanos()) {
                throw new BatchTimeoutException(target + ": partition " + partition + " could not be read within "
                        + patience.toMillis() + " ms" + log.trouble());
            }
        }
    }
}

package dev.stoker.client.topic;

import dev.stoker.client.source.LanePlan;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads lanes sequentially from the beginning of an iteration: stores records, drops repeated ones and detects missing
 * ones. Each restart of the reading creates a new object. The source's thread calls it, under the client's lock where
 * noted.
 */
final class TopicReading {
    /** A piece that the trainer has not consumed, and the offset after it. */
    private record Held(LanePlan.Coming coming, long offset) {}

    private final LanePlan plan;
    private final TopicPieces pieces;
    private final TopicLog stream;
    private final TopicSearch search;
    private final long laneBytes;
    /** The parts of the piece that is arriving, by lane. */
    private final Map<Integer, List<VerifiedRecord>> parts = new HashMap<>();
    /** Bytes that the trainer has not taken, by lane. */
    private final Map<Integer, Long> keptBytes = new HashMap<>();

    private final Map<Integer, Boolean> paused = new HashMap<>();
    /** Lanes that have reached the end of the plan, with the next offset. */
    private final Map<Integer, Long> stalled = new HashMap<>();
    /** The last piece that was kept, by lane. */
    private final Map<Integer, RecordPosition> last = new HashMap<>();
    /** The last record, and the offset after it, by lane. */
    private final Map<Integer, RecordPosition> seen = new HashMap<>();

    private final Map<Integer, Long> seenOffset = new HashMap<>();
    private final Map<Integer, List<Held>> held = new HashMap<>();
    private final Map<Integer, Long> consumed = new TreeMap<>();
    private long duplicates;
    private boolean isBegun;
    private boolean isAssigned;
    private boolean isExtended;

    TopicReading(LanePlan plan, TopicPieces pieces, TopicLog stream, TopicSearch search, long bufferBytes) {
        this.plan = plan;
        this.pieces = pieces;
        this.stream = stream;
        this.search = search;
        this.laneBytes = bufferBytes / (2L * Math.max(1, plan.lanes().size()));
    }

    Set<Integer> lanes() {
        return plan.lanes();
    }

    /** Adds the following span to the plan; under the lock. */
    void extend(Span span) {
        plan.add(span);
        isExtended = true;
    }

    /** Moves to the offsets from which the lanes are read. Waits for brokers; not under the lock. */
    void begin(Map<Integer, RecordPosition> from) {
        Map<Integer, Long> offsets = new TreeMap<>();
        from.forEach((lane, position) -> {
            TopicSearch.Place place = search.find(lane, position);
            place.record().ifPresent(record -> pieces.require(lane, record));
            offsets.put(lane, place.offset());
        });
        stream.readFrom(offsets);
        isAssigned = !offsets.isEmpty();
        isBegun = true;
    }

    boolean isBegun() {
        return isBegun;
    }

    /** Whether there are partitions to poll. */
    boolean isAssigned() {
        return isAssigned;
    }

    /** The first piece of each lane; under the lock. */
    Map<Integer, RecordPosition> wanted() {
        Map<Integer, RecordPosition> wanted = new TreeMap<>();
        for (int lane : plan.lanes()) {
            plan.next(lane).ifPresent(coming -> wanted.put(lane, coming.position()));
        }
        return wanted;
    }

    /**
     * Resumes the lanes that have room, and the {@code needed} lanes even if the trainer holds much of them. Under the
     * lock.
     */
    void resume(Set<Integer> needed) {
        if (isExtended) {
            isExtended = false;
            stalled.forEach(this::seek);
            stalled.clear();
        }
        List<Integer> going = paused.keySet().stream()
                .filter(lane -> !stalled.containsKey(lane))
                .filter(lane -> needed.contains(lane) || kept(lane) <= laneBytes / 2)
                .toList();
        if (!going.isEmpty()) {
            going.forEach(paused::remove);
            stream.resume(going);
        }
    }

    /** Continues at another offset of a lane, which ends its pause. */
    private void seek(int lane, long offset) {
        stream.seek(lane, offset);
        paused.remove(lane);
    }

    private long kept(int lane) {
        return keptBytes.getOrDefault(lane, 0L);
    }

    /** Notes that the trainer has a piece; under the lock. */
    void taken(int lane, int bytes) {
        keptBytes.merge(lane, (long) -bytes, Long::sum);
    }

    /**
     * Adds a record; under the lock.
     *
     * @return the record, if it shows that its lane does not continue at the expected position
     */
    Optional<VerifiedRecord> take(VerifiedRecord record) {
        int lane = record.header().lane();
        pieces.require(lane, record);
        if (stalled.containsKey(lane)) {
            return Optional.empty();
        }
        RecordPosition position = record.position();
        Optional<LanePlan.Coming> coming = plan.next(lane);
        if (coming.isEmpty()
                && position.kind() == RecordKind.BATCH
                && position.compareTo(last.getOrDefault(lane, position)) > 0) {
            stalled.put(lane, record.offset());
            paused.put(lane, true);
            stream.pause(Set.of(lane));
            return Optional.empty();
        }
        List<VerifiedRecord> arrived = parts.getOrDefault(lane, new ArrayList<>());
        Optional<RecordPosition> wanted = coming.map(LanePlan.Coming::position)
                .map(first -> new RecordPosition(first.epoch(), first.kind(), first.batch(), arrived.size()));
        if (wanted.isPresent() && position.compareTo(wanted.get()) > 0) {
            return Optional.of(record);
        }
        seen.put(lane, position);
        seenOffset.put(lane, record.offset() + 1);
        if (wanted.isEmpty() || !position.equals(wanted.get())) {
            duplicates += position.kind() == RecordKind.BATCH ? 1 : 0;
            return Optional.empty();
        }
        pieces.requireSameParts(arrived, record);
        arrived.add(record);
        if (arrived.size() < record.header().parts()) {
            parts.put(lane, arrived);
            return Optional.empty();
        }
        parts.remove(lane);
        complete(lane, coming.get(), arrived);
        return Optional.empty();
    }

    private void complete(int lane, LanePlan.Coming coming, List<VerifiedRecord> arrived) {
        plan.took(lane);
        VerifiedRecord end = arrived.get(arrived.size() - 1);
        last.put(lane, end.position());
        held.computeIfAbsent(lane, l -> new ArrayList<>()).add(new Held(coming, end.offset() + 1));
        ReceivedPiece piece = pieces.piece(coming.span(), coming.index(), coming.piece(), arrived);
        coming.span().add(coming.index(), piece);
        keptBytes.merge(lane, (long) piece.header().messageBytes(), Long::sum);
        if (kept(lane) > laneBytes && paused.put(lane, true) == null) {
            stream.pause(Set.of(lane));
        }
    }

    /**
     * Moves to another offset of a lane whose next record is not the expected one. Waits for brokers; not under the
     * lock.
     */
    void resync(int lane, Optional<RecordPosition> wanted, Optional<VerifiedRecord> ahead) {
        parts.remove(lane);
        if (wanted.isEmpty()) {
            seek(lane, ahead.map(record -> record.offset() + 1).orElseGet(() -> search.begin(lane)));
            return;
        }
        TopicSearch.Place place = search.find(lane, wanted.get());
        if (ahead.isPresent()
                && (place.record().isEmpty() || place.offset() >= ahead.get().offset())) {
            Optional<VerifiedRecord> found =
                    search.scan(lane, wanted.get(), ahead.get().offset());
            place = new TopicSearch.Place(
                    found.orElseThrow(() -> search.gap(lane, wanted.get(), ahead.get()))
                            .offset(),
                    found);
        }
        seek(lane, place.offset());
    }

    /** The next position of a lane; under the lock. */
    Optional<RecordPosition> wanted(int lane) {
        return plan.next(lane).map(LanePlan.Coming::position);
    }

    /** The last record of a lane that was read. */
    Optional<RecordPosition> seen(int lane) {
        return Optional.ofNullable(seen.get(lane));
    }

    long duplicates() {
        return duplicates;
    }

    /** Notes that the trainer has finished a batch; under the lock. */
    void consumed(Span span, long index) {
        held.forEach((lane, waiting) -> waiting.removeIf(piece -> {
            boolean isIt = piece.coming.span() == span && piece.coming.index() == index;
            if (isIt) {
                consumed.merge(lane, piece.offset, Math::max);
            }
            return isIt;
        }));
    }

    /** The offset of each lane before which everything is consumed; under the lock. */
    Map<Integer, Long> progress() {
        seen.forEach((lane, position) -> {
            // Nothing before this offset is still unconsumed.
            if (held.getOrDefault(lane, List.of()).isEmpty() && !parts.containsKey(lane)) {
                Optional<RecordPosition> wanted = wanted(lane);
                if (wanted.isEmpty() || position.compareTo(wanted.get()) < 0) {
                    consumed.merge(lane, seenOffset.get(lane), Math::max);
                }
            }
        });
        return Map.copyOf(consumed);
    }
}

package dev.stoker.client;

import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.LanePieces;
import dev.stoker.schemas.order.OrderSpec;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/**
 * Where in a partition a position should stand, from records that were seen: only ever a first guess. Counts the records between one
 * that was seen and the one that is looked for. Exact for pieces of one record where each was written once; otherwise as far off as the
 * parts differ, as records came again, and as markers of transactions take offsets. One thread.
 */
final class TopicGuesses {
    /** Fewer records say too little of how many offsets one takes. */
    private static final int TELLING = 16;

    private record Anchor(RecordPosition position, long offset) {
        static final Anchor START = new Anchor(RecordPosition.begin(0), 0);
    }

    /** Of a lane a record seen early, the last one, and how many parts a piece has. */
    private record Seen(Anchor first, Anchor last, int parts) {
        long offsets() {
            return last.offset - first.offset;
        }
    }

    private final OrderSpec order;
    private final long[] laneRows;
    private final Map<Integer, Seen> seen = new HashMap<>();
    private EpochNumbering numbering;
    private long numbered = -1;

    /** @param info what epochs are of */
    TopicGuesses(TopicInfo info) {
        this.order = info.order();
        this.laneRows = info.laneRows().stream().mapToLong(Long::longValue).toArray();
    }

    /** A record stands here. */
    void saw(TopicRecord record) {
        int lane = record.header().lane();
        Anchor anchor = new Anchor(record.position(), record.offset());
        Seen known = seen.get(lane);
        boolean isPiece = record.header().kind() == RecordKind.BATCH;
        seen.put(
                lane,
                new Seen(
                        known == null || anchor.offset <= known.first.offset ? anchor : known.first,
                        anchor,
                        isPiece ? record.header().parts() : parts(lane)));
    }

    /** Where a position may stand. */
    long offset(int lane, RecordPosition wanted) {
        Anchor last = seen.containsKey(lane) ? seen.get(lane).last : Anchor.START;
        long distance = distance(lane, last.position, wanted);
        double density = density(lane);
        // Too early costs some records that are read over, too late another look.
        int early = density != 1 && Math.abs(distance) > 2 ? 2 : 0;
        return Math.max(0, last.offset + Math.round(distance * density) - early);
    }

    /** How many records a position stands behind another. */
    long distance(int lane, RecordPosition from, RecordPosition to) {
        int parts = parts(lane);
        return place(lane, to, parts) - place(lane, from, parts);
    }

    /** Records before a position in its lane if each piece has so many. */
    private long place(int lane, RecordPosition position, int parts) {
        LanePieces pieces = new LanePieces(numbering(position.epoch()), lane);
        long before = position.epoch() * (pieces.count() * parts + 2);
        return switch (position.kind()) {
            case EPOCH_BEGIN -> before;
            case BATCH -> before + 1 + pieces.firstFrom(position.batch()) * parts + position.part();
            case EPOCH_END -> before + 1 + pieces.count() * parts;
        };
    }

    private EpochNumbering numbering(long epoch) {
        if (epoch != numbered) {
            numbering = new EpochNumbering(order, laneRows, epoch);
            numbered = epoch;
        }
        return numbering;
    }

    private int parts(int lane) {
        Seen known = seen.get(lane);
        return known != null
                ? known.parts
                : seen.values().stream().mapToInt(Seen::parts).max().orElse(1);
    }

    /** Offsets for a record, in this lane or in the one of which most is known. */
    private double density(int lane) {
        int telling = seen.containsKey(lane) && seen.get(lane).offsets() >= TELLING
                ? lane
                : seen.entrySet().stream()
                        .max(Comparator.comparingLong(entry -> entry.getValue().offsets()))
                        .map(Map.Entry::getKey)
                        .orElse(lane);
        Seen known = seen.get(telling);
        if (known == null) {
            return 1;
        }
        long records = distance(telling, known.first.position, known.last.position);
        return records < TELLING ? 1 : Math.min(4.0, Math.max(0.5, (double) known.offsets() / records));
    }
}

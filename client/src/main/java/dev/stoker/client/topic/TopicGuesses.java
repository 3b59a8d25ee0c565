package dev.stoker.client.topic;

import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.LanePieces;
import dev.stoker.schemas.order.OrderSpec;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Guesses a position's offset in a partition from records that were seen, by counting the records between a seen one
 * and the wanted one. A guess is exact for pieces of one record that were each written once. Otherwise it is wrong by
 * the differences in parts, by repeated records, and by the offsets of transaction markers. One thread.
 */
final class TopicGuesses {
    /** With fewer records, the offsets per record are not known well enough. */
    private static final int TELLING = 16;

    private record Anchor(RecordPosition position, long offset) {
        static final Anchor START = new Anchor(RecordPosition.begin(0), 0);
    }

    /** For one lane: an early record, the last record seen, and the parts of a piece. */
    private record Seen(Anchor first, Anchor last, int parts) {
        long offsets() {
            return last.offset - first.offset;
        }
    }

    private final OrderSpec order;
    private final long[] laneRows;
    private final Map<Integer, Seen> seen = new HashMap<>();
    private @Nullable EpochNumbering numbering;
    private long numbered = -1;

    /** @param info the contents of epochs */
    TopicGuesses(TopicInfo info) {
        this.order = info.order();
        this.laneRows = info.laneRows().stream().mapToLong(Long::longValue).toArray();
    }

    /** Notes the offset of a record. */
    void saw(VerifiedRecord record) {
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

    /** A guess of a position's offset. */
    long offset(int lane, RecordPosition wanted) {
        Anchor last = seen.containsKey(lane) ? seen.get(lane).last : Anchor.START;
        long distance = distance(lane, last.position, wanted);
        double density = density(lane);
        // An offset too early costs a few skipped records; one too late costs another look.
        int early = density != 1 && Math.abs(distance) > 2 ? 2 : 0;
        return Math.max(0, last.offset + Math.round(distance * density) - early);
    }

    /** The number of records between two positions. */
    long distance(int lane, RecordPosition from, RecordPosition to) {
        int parts = parts(lane);
        return place(lane, to, parts) - place(lane, from, parts);
    }

    /** Records before a position in its lane if each piece has this number of parts. */
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
        if (numbering == null || epoch != numbered) {
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

    /** Offsets per record, in this lane or in the lane that is known best. */
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

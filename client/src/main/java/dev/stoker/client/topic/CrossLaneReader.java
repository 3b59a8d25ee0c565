package dev.stoker.client.topic;

import dev.stoker.client.source.PieceRequest;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.schemas.kafka.RecordPosition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads pieces from lanes that are not read from end to end: of joint batches, of the last rounds of uneven lanes, and
 * repeated rows. Finds the piece that the trainer waits for, and continues in its lane while the next wanted piece is
 * near. The receiving thread calls it.
 */
final class CrossLaneReader {
    /** The least and the greatest number of batches that are read before the trainer waits for them. */
    private static final int LEAST_AHEAD = 8;

    private static final int MOST_AHEAD = 64;

    /** A piece to look up. */
    record Sought(Span span, long index, int piece, PieceRequest request) {
        private RecordPosition position() {
            return request.position(span.range().epoch());
        }

        private boolean isBehind(Sought other) {
            return request.lane() == other.request.lane() && position().compareTo(other.position()) > 0;
        }
    }

    private final TopicState state;
    private final TopicSearch search;
    private final TopicPieces pieces;
    private final long bufferBytes;
    /** Bytes of the largest piece so far; 0 before the first one. */
    private int largest;

    /** @param bufferBytes the approximate bytes that are kept for the trainer */
    CrossLaneReader(TopicState state, TopicSearch search, TopicPieces pieces, long bufferBytes) {
        this.state = state;
        this.search = search;
        this.pieces = pieces;
        this.bufferBytes = bufferBytes;
    }

    /** A piece that the trainer waits for, and the following wanted pieces of the same lane; under the lock. */
    List<Sought> sought() {
        List<Sought> sought = new ArrayList<>();
        if (state.waiting == null || !state.waiting.isOn()) {
            return sought;
        }
        Span span = state.waiting.span();
        long index = state.waiting.index();
        long ahead = largest == 0 ? LEAST_AHEAD : Math.min(MOST_AHEAD, bufferBytes / largest);
        long end = Math.min(span.range().count(), index + Math.max(LEAST_AHEAD, ahead));
        do {
            for (Sought next : missing(span, index)) {
                if (sought.isEmpty() || next.isBehind(sought.get(sought.size() - 1))) {
                    sought.add(next);
                }
            }
            index++;
        } while (!sought.isEmpty() && index < end);
        return sought;
    }

    private List<Sought> missing(Span span, long index) {
        long number = span.number(index);
        List<PieceRequest> requests =
                PieceRequest.of(span.numbering(), span.range().tail(), number);
        List<Sought> missing = new ArrayList<>();
        for (int piece = 0; piece < requests.size(); piece++) {
            PieceRequest request = requests.get(piece);
            if (span.requests(index, piece) && !state.isReadOn(number, request.lane(), request.isRepeated())) {
                missing.add(new Sought(span, index, piece, request));
            }
        }
        return missing;
    }

    /**
     * Reads pieces of a lane while they are written and near each other. Waits for brokers; not under the lock.
     *
     * @return whether at least one was read
     */
    boolean take(List<Sought> sought) {
        Optional<VerifiedRecord> last = Optional.empty();
        for (Sought next : sought) {
            List<VerifiedRecord> parts = parts(next.request, next.position(), last);
            if (parts.isEmpty()) {
                break; // It is looked up when the trainer waits for it.
            }
            add(next, parts);
            last = Optional.of(parts.get(parts.size() - 1));
        }
        return last.isPresent();
    }

    /**
     * Returns all parts of a piece, searched after a record or everywhere; empty if it does not exist or is not near.
     */
    private List<VerifiedRecord> parts(PieceRequest request, RecordPosition first, Optional<VerifiedRecord> before) {
        List<VerifiedRecord> parts = new ArrayList<>();
        Optional<VerifiedRecord> last = before;
        do {
            RecordPosition part = new RecordPosition(first.epoch(), first.kind(), first.batch(), parts.size());
            Optional<VerifiedRecord> record = last.flatMap(found -> search.behind(found, part));
            if (record.isEmpty() && (before.isEmpty() || !parts.isEmpty())) {
                record = search.find(request.lane(), part).record();
            }
            if (record.isEmpty()) {
                return List.of();
            }
            pieces.require(request.lane(), record.get());
            pieces.requireSameParts(parts, record.get());
            parts.add(record.get());
            last = record;
        } while (parts.size() < parts.get(0).header().parts());
        return parts;
    }

    private void add(Sought sought, List<VerifiedRecord> parts) {
        ReceivedPiece piece = pieces.piece(sought.span, sought.index, sought.piece, parts);
        largest = Math.max(largest, piece.header().messageBytes());
        state.lock.lock();
        try {
            parts.forEach(part -> state.bytes += part.value().length);
            if (sought.span.requests(sought.index, sought.piece)) {
                sought.span.add(sought.index, piece);
                state.changed.signalAll();
            }
        } finally {
            state.lock.unlock();
        }
    }
}

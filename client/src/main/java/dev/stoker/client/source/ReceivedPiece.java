package dev.stoker.client.source;

import dev.stoker.schemas.protocol.BatchHeader;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A piece that has arrived intact.
 *
 * @param header the feeder's description of the piece
 * @param message the record batch message, from index 0 to the limit; direct
 * @param origin over which its receipt goes, if the source needs one
 * @param from where it comes from, for messages
 * @param isAgain whether it is repeated to fill a joined batch
 */
public record ReceivedPiece(
        BatchHeader header, ByteBuffer message, Optional<Origin> origin, String from, boolean isAgain) {
    /** Marks what a source uses to acknowledge a piece. */
    public interface Origin {}

    public ReceivedPiece(BatchHeader header, ByteBuffer message, Origin origin, String from) {
        this(header, message, Optional.of(origin), from, false);
    }

    /** Creates a piece from a topic. */
    public ReceivedPiece(BatchHeader header, ByteBuffer message, String from) {
        this(header, message, Optional.empty(), from, false);
    }

    public ReceivedPiece again() {
        return new ReceivedPiece(header, message, origin, from, true);
    }

    /** Whether its rows are also delivered elsewhere in the epoch. */
    public boolean isRepeated() {
        return isAgain || header.identity().repeated();
    }
}

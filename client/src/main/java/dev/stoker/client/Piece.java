package dev.stoker.client;

import dev.stoker.schemas.protocol.BatchHeader;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A piece that has arrived intact.
 *
 * @param header the feeder's description of the piece
 * @param message the record batch message, from index 0 to the limit; direct
 * @param connection the connection over which it arrived, if there is one
 * @param from its origin, for messages
 * @param isAgain whether it is repeated to fill a joined batch
 */
record Piece(
        BatchHeader header, ByteBuffer message, Optional<FeederConnection> connection, String from, boolean isAgain) {
    Piece(BatchHeader header, ByteBuffer message, FeederConnection connection) {
        this(header, message, Optional.of(connection), connection.address(), false);
    }

    /** Creates a piece from a topic. */
    Piece(BatchHeader header, ByteBuffer message, String from) {
        this(header, message, Optional.empty(), from, false);
    }

    Piece again() {
        return new Piece(header, message, connection, from, true);
    }

    /** Whether its rows are also delivered elsewhere in the epoch. */
    boolean isRepeated() {
        return isAgain || header.identity().repeated();
    }
}

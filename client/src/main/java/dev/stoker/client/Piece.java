package dev.stoker.client;

import dev.stoker.schemas.protocol.BatchHeader;
import java.nio.ByteBuffer;

/**
 * A piece that has arrived intact.
 *
 * @param header what the feeder said of it
 * @param message the record batch message, from index 0 to the limit; direct
 * @param link where it came from
 * @param isAgain whether it stands in a joined batch once more, to fill it
 */
record Piece(BatchHeader header, ByteBuffer message, Link link, boolean isAgain) {
    Piece(BatchHeader header, ByteBuffer message, Link link) {
        this(header, message, link, false);
    }

    Piece again() {
        return new Piece(header, message, link, true);
    }

    /** Whether its rows are delivered elsewhere in the epoch too. */
    boolean isRepeated() {
        return isAgain || header.identity().repeated();
    }
}

package dev.stoker.client;

import dev.stoker.schemas.protocol.BatchHeader;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A piece that has arrived intact.
 *
 * @param header what the feeder said of it
 * @param message the record batch message, from index 0 to the limit; direct
 * @param link the connection that it came over, if it came over one
 * @param from where it came from, for messages
 * @param isAgain whether it stands in a joined batch once more, to fill it
 */
record Piece(BatchHeader header, ByteBuffer message, Optional<Link> link, String from, boolean isAgain) {
    Piece(BatchHeader header, ByteBuffer message, Link link) {
        this(header, message, Optional.of(link), link.address(), false);
    }

    /** Out of a topic. */
    Piece(BatchHeader header, ByteBuffer message, String from) {
        this(header, message, Optional.empty(), from, false);
    }

    Piece again() {
        return new Piece(header, message, link, from, true);
    }

    /** Whether its rows are delivered elsewhere in the epoch too. */
    boolean isRepeated() {
        return isAgain || header.identity().repeated();
    }
}

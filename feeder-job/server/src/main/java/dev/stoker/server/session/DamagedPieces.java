package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.text.Units;
import java.util.HashMap;
import java.util.Map;

/** The pieces of a subscription that arrived damaged. For the session's reader thread. */
final class DamagedPieces {

    /** Maximum number of damaged pieces; one more ends the connection. */
    private static final int MAX_PIECES = 4096;

    private final Map<Name, Integer> times = new HashMap<>();

    private record Name(long number, int piece) {}

    /** Clears the counts for a new subscription. */
    void clear() {
        times.clear();
    }

    /** Counts a piece. No piece may arrive damaged twice. */
    void add(Nack nack) throws ProtocolException {
        if (times.merge(new Name(nack.number(), nack.piece()), 1, Integer::sum) > 1) {
            throw new ProtocolException(
                    ErrorCode.CORRUPT,
                    "number " + nack.number() + " piece " + nack.piece()
                            + " arrived damaged twice, although its samples were read again and match their checksums:"
                            + " check the memory and network of both machines");
        }
        if (times.size() > MAX_PIECES) {
            throw tooMany();
        }
    }

    ProtocolException tooMany() {
        return new ProtocolException(
                ErrorCode.CORRUPT,
                Units.plural(times.size(), "piece")
                        + " arrived damaged: check the memory and network of both machines");
    }
}

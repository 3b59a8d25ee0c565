package dev.stoker.schemas.protocol;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.parts.ErrorCode;

/**
 * Thrown when the peer violates the protocol or cannot be served. The session ends with an ERROR frame of this code and
 * message.
 */
public final class ProtocolException extends StokerException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    /** @param message the problem, the expected and found values, and the next step; sent to the peer */
    public ProtocolException(ErrorCode code, String message) {
        super(message);
        this.code = code;
    }

    /** @param message the problem, the expected and found values, and the next step; sent to the peer */
    public ProtocolException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public static ProtocolException badFrame(String message) {
        return new ProtocolException(ErrorCode.BAD_FRAME, message);
    }

    /** Returns the code of the ERROR frame. */
    public ErrorCode code() {
        return code;
    }
}

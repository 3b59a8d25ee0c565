package dev.stoker.schemas.protocol;

import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Ends the session and states the reason; no frame follows (both directions).
 *
 * @param code one of {@link ErrorCode}, or a code of a newer peer
 * @param message the problem and the next step, for people
 */
public record ErrorMessage(String code, String message) implements Frame {
    public ErrorMessage {
        if (code.isEmpty()) {
            throw new IllegalArgumentException("an ERROR needs a code");
        }
    }

    public ErrorMessage(ErrorCode code, String message) {
        this(code.text(), message);
    }

    /** Returns the message that a session sends to its peer when it ends with this exception. */
    public static ErrorMessage of(ProtocolException broken) {
        return new ErrorMessage(broken.code(), ErrorText.of(broken));
    }

    /** Returns the code, if this release knows it. */
    public Optional<ErrorCode> known() {
        return ErrorCode.byText(code);
    }

    public ByteBuffer body() {
        return JsonObject.bytes(JsonObject.create().put("code", code).put("message", message));
    }

    public static ErrorMessage read(ByteBuffer body) throws ProtocolException {
        JsonObject json = JsonObject.read(FrameType.ERROR, body);
        return new ErrorMessage(json.text("code"), json.text("message"));
    }

    @Override
    public FrameType type() {
        return FrameType.ERROR;
    }
}

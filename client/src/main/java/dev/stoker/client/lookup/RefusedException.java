package dev.stoker.client.lookup;

import dev.stoker.client.errors.BatchTooLargeException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.parts.ErrorCode;

/** A feeder ended a session with an error frame. Never leaves the package. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The client's reaction. */
    enum Reaction {
        /** The request fails. */
        STOP,
        /** The client asks another feeder. */
        ELSEWHERE,
        /** The client tries again a few times. */
        RETRY
    }

    private final Reaction reaction;
    private final FeedException error;

    RefusedException(String address, ErrorMessage message) {
        super(address + ": " + message.message());
        ErrorCode code = ErrorCode.byText(message.code()).orElse(ErrorCode.INTERNAL);
        String text = address + ": " + message.message();
        reaction = switch (code) {
            case SHUTTING_DOWN, ORIGIN_UNAVAILABLE -> Reaction.ELSEWHERE;
            case BAD_FRAME, INTERNAL, PLACE_TAKEN -> Reaction.RETRY;
            default -> Reaction.STOP;
        };
        error = switch (code) {
            case UNAUTHORIZED -> new UnauthorizedException(text);
            case VERSION_MISMATCH -> new StateMismatchException(text);
            case CORRUPT -> new CorruptBatchException(text);
            case TOO_LARGE -> new BatchTooLargeException(text);
            default -> new FeedProtocolException(text, message.code());
        };
    }

    Reaction reaction() {
        return reaction;
    }

    /** Returns what the program gets if the client does not try again. */
    FeedException error() {
        return error;
    }
}

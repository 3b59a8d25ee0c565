package dev.stoker.schemas.protocol;

import java.util.Optional;

/** Lists the reasons for which a side ends a session: the codes of an ERROR frame. */
public enum ErrorCode {
    /** The peer sent what no frame is, or a frame out of turn. */
    BAD_FRAME("bad_frame"),
    /** The peer speaks another version of the protocol. */
    UNSUPPORTED_PROTOCOL("unsupported_protocol"),
    /** No token or a wrong one. */
    UNAUTHORIZED("unauthorized"),
    /** The client wants another feed than the one served here. */
    WRONG_FEED("wrong_feed"),
    /** The feed has no stream of this name. */
    UNKNOWN_STREAM("unknown_stream"),
    /** The group's order spec is fixed and differs from what was asked for. */
    ORDER_MISMATCH("order_mismatch"),
    /** Another process has taken the place for good. */
    FENCED("fenced"),
    /** A live session of another process has the place; it may be free later. */
    PLACE_TAKEN("place_taken"),
    /** The run goes on with another world size. */
    WORLD_SIZE_MISMATCH("world_size_mismatch"),
    /** The epoch reads another version of the dataset than the client's state says, or one that is not there. */
    VERSION_MISMATCH("version_mismatch"),
    /** Data is damaged and reading it again does not heal it. */
    CORRUPT("corrupt"),
    /** The dataset cannot be read at present. */
    ORIGIN_UNAVAILABLE("origin_unavailable"),
    /** A batch does not fit a message. */
    TOO_LARGE("too_large"),
    /** The server ends. */
    SHUTTING_DOWN("shutting_down"),
    /** A fault of the server. */
    INTERNAL("internal");

    private final String text;

    ErrorCode(String text) {
        this.text = text;
    }

    /** The code as it stands in an ERROR frame. */
    public String text() {
        return text;
    }

    /** The code of this text, if it is known here. */
    public static Optional<ErrorCode> byText(String text) {
        for (ErrorCode code : values()) {
            if (code.text.equals(text)) {
                return Optional.of(code);
            }
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return text;
    }
}

package dev.stoker.schemas.protocol.parts;

import java.util.Optional;

/** Lists the reasons for which a side ends a session: the codes of an ERROR frame. */
public enum ErrorCode {
    /** The peer sent an invalid frame, or a frame out of turn. */
    BAD_FRAME("bad_frame"),
    /** The peer speaks another version of the protocol. */
    UNSUPPORTED_PROTOCOL("unsupported_protocol"),
    /** The token is missing, wrong, or lacks a right. */
    UNAUTHORIZED("unauthorized"),
    /** The client requests another feed than the one served here. */
    WRONG_FEED("wrong_feed"),
    /** The feed has no stream of this name. */
    UNKNOWN_STREAM("unknown_stream"),
    /** The group's order spec is fixed and differs from the requested one. */
    ORDER_MISMATCH("order_mismatch"),
    /** Another process has permanently taken the place. */
    FENCED("fenced"),
    /** A live session of another process conflicts; the place may be free later. */
    PLACE_TAKEN("place_taken"),
    /** The run has another world size. */
    WORLD_SIZE_MISMATCH("world_size_mismatch"),
    /**
     * The epoch reads another version of the dataset than the client's state names, or the dataset has no such version.
     */
    VERSION_MISMATCH("version_mismatch"),
    /** Data is damaged, and reading it again does not repair it. */
    CORRUPT("corrupt"),
    /** The dataset cannot be read at present. */
    ORIGIN_UNAVAILABLE("origin_unavailable"),
    /** A batch does not fit in a message. */
    TOO_LARGE("too_large"),
    /** The server is shutting down. */
    SHUTTING_DOWN("shutting_down"),
    /** A fault of the server. */
    INTERNAL("internal");

    private final String text;

    ErrorCode(String text) {
        this.text = text;
    }

    /** Returns the code as sent in an ERROR frame. */
    public String text() {
        return text;
    }

    /** Returns the code with this text, if this release knows it. */
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

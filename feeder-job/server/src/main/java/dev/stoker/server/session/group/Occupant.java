package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.parts.ErrorCode;

/** What has a place in a group: a session. Its methods return at once and may be called by any thread. */
public interface Occupant {
    /** Asks the peer for a sign of life, because another process wants the place. */
    void ask();

    /** Whether the peer has been asked and has given no sign of life for so long that its machine must be gone. */
    boolean isSilent();

    /** Ends the session. */
    void end(ErrorCode code, String why);
}

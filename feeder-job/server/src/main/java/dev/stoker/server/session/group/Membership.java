package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.server.security.TokenRights;

/**
 * A session's membership of a group, which stays open until the session leaves it. For the session's reader thread.
 */
public final class Membership {
    private final Groups groups;
    private final Hello hello;
    private final Occupant session;
    private final Group group;
    private boolean joined;

    /**
     * Enters the group that a trainer names. The session has no place yet.
     *
     * @throws ProtocolException if too many groups are open
     */
    public Membership(Groups groups, Hello hello, Occupant session) throws ProtocolException {
        this.groups = groups;
        this.hello = hello;
        this.session = session;
        this.group = groups.enter(hello.group());
    }

    public Group group() {
        return group;
    }

    /** Takes a place, as {@link Group#join} does. */
    public Group.Joined join(TokenRights rights, Group.Orders at, long epoch, long nowMs) throws ProtocolException {
        Group.Joined place = group.join(hello, rights, session, at, epoch, nowMs);
        joined = true;
        return place;
    }

    /** Frees the place, if there is one, and leaves the group. Called once. */
    public void leave() {
        if (joined) {
            group.leave(hello, session);
        }
        groups.leave(hello.group());
    }
}

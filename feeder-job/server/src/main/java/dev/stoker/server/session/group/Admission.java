package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.security.FeedToken;

/**
 * What was found when a trainer was let in. The rights are looked up once, and are those of the session until it ends,
 * even if the token file changes.
 *
 * @param hello with which it came; it names the group
 * @param rights of its token
 * @param stream that it named, or the first one
 */
public record Admission(Hello hello, FeedToken.Rights rights, FeedStream stream) {

    /** Returns whether the trainer takes no place. */
    public boolean isLook() {
        // If each epoch has a separate version, a trainer that does not name an epoch can only look.
        return hello.caller().look()
                || (stream.follows() && hello.reading().epoch().isEmpty());
    }

    /** Returns the identity of the trainer in a run. */
    Identity identity(long run) {
        return new Identity(
                stream.stream().name(),
                hello.pass().group(),
                run,
                hello.participant().rank(),
                hello.participant().worldSize(),
                hello.participant().worker(),
                hello.participant().workers(),
                hello.replica());
    }
}

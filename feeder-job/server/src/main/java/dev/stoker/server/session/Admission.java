package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.TokenRights;
import java.util.Optional;

/**
 * Whom a server lets in.
 *
 * @param spec of the feed
 * @param options with the token that is wanted
 */
record Admission(FeedSpec spec, ServerOptions options) {

    /**
     * What a trainer may do by its token; everything where no token is wanted.
     *
     * @throws ProtocolException if a token is wanted, and it has none or a wrong one
     */
    TokenRights rights(Hello hello) throws ProtocolException {
        Optional<FeedToken> token = options.access().token();
        if (token.isEmpty()) {
            return TokenRights.ALL;
        }
        return token.get()
                .rights(hello.token())
                .orElseThrow(() -> new ProtocolException(
                        ErrorCode.UNAUTHORIZED,
                        hello.token().isPresent()
                                ? "this feed does not know the token: take one from the feed's token file"
                                : "this feed requires a token: give the trainer one from the feed's token file"));
    }

    /**
     * Refuses a trainer that has no right to come in, or means another feed.
     *
     * @param sessions that there are
     * @param isClosed whether the server is ending
     */
    void judge(Hello hello, int sessions, boolean isClosed) throws ProtocolException {
        TokenRights rights = rights(hello);
        if (hello.feed().isPresent()
                && !hello.feed().get().equals(spec.name())
                && !hello.feed().get().equals(spec.id().toString())) {
            throw new ProtocolException(
                    ErrorCode.WRONG_FEED,
                    "feed " + spec.name() + " (" + spec.id() + ") is served here, not "
                            + hello.feed().get() + ": check the address, or STOKER_FEED");
        }
        rights.require(hello.stream().orElse(spec.streams().get(0).name()), hello.group());
        if (isClosed) {
            throw new ProtocolException(ErrorCode.SHUTTING_DOWN, "feed " + spec.name() + " is ending");
        }
        if (sessions >= options.maxSessions()) {
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    options.maxSessions() + " trainers are connected, which is the limit: start the feed with a larger"
                            + " --max-sessions");
        }
    }
}

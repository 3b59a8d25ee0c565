package dev.stoker.server.session;

import dev.stoker.server.feed.Identity;
import dev.stoker.server.session.group.FeedStream;
import dev.stoker.server.session.group.SessionWatch;
import dev.stoker.server.window.GroupOrder;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a session was admitted to.
 *
 * @param identity of the trainer
 * @param only the only epoch that may be subscribed to, if each epoch has a separate version
 * @param files the files that the trainer knows; null if it takes payload over the connection
 * @param leases the chunks that the trainer was referred to
 */
record Admitted(
        FeedStream stream,
        GroupOrder order,
        Identity identity,
        SessionWatch watch,
        OptionalLong only,
        @Nullable SentFiles files,
        Leases leases) {}

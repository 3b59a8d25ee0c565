package dev.stoker.server;

import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.session.FeedServer;
import java.util.UUID;

/** A node on a server of the caller's, outside of the node that the Java process has for the feed. */
public final class SimulatedNode {
    private final FeedNode node;

    public SimulatedNode(UUID feed, ServerOptions options, FeedServer server) {
        this.node = new FeedNode(feed, options, server);
    }

    /** A share in the node. */
    public NodeLease lease() {
        return node.lease();
    }

    /** The streams of a feed as the node of a Java process opens them. */
    public static FeedServer.Streams streams(FeedSpec spec) {
        return new DatasetStreams(spec.id(), spec.streams());
    }
}

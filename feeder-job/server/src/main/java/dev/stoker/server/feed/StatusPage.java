package dev.stoker.server.feed;

import java.io.IOException;
import java.util.function.Supplier;

/** A page that shows the state of a feed. It lives as long as the node. */
public interface StatusPage extends AutoCloseable {
    /** Starts a page. */
    interface Starter {
        /** @param status returns the state of the feed; called for each request, by any thread */
        StatusPage start(Supplier<FeedStatus> status) throws IOException;
    }

    /** Returns the URL of the page. */
    String url();

    @Override
    void close();
}

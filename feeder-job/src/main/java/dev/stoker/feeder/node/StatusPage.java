package dev.stoker.feeder.node;

import java.io.IOException;
import java.util.function.Supplier;

/** Something that shows how a feed stands; it lives as long as the node. */
public interface StatusPage extends AutoCloseable {
    /** Starts a page. */
    interface Starter {
        /** @param status how the feed stands, asked for anew whenever somebody looks; any thread */
        StatusPage start(Supplier<FeedStatus> status) throws IOException;
    }

    /** Where it is looked at. */
    String url();

    @Override
    void close();
}

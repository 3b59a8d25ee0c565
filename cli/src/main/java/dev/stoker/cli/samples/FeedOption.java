package dev.stoker.cli.samples;

import dev.stoker.cli.options.VersionOptions;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a verb that reads samples from a running feed instead of a dataset. */
public final class FeedOption {

    @Option(
            names = "--feed",
            paramLabel = "FEED",
            description = "Read from the feeders of a running feed, through their tiers, instead of from DATASET: its"
                    + " name or HOST:PORT,…. Tokens and TLS are set as for a trainer, see stoker run.")
    private @Nullable String feed;

    @Option(names = "--stream", paramLabel = "NAME", description = "Stream of the feed. Default: its first.")
    private @Nullable String stream;

    /** Returns whether the verb reads from a feed. */
    public boolean isGiven() {
        return feed != null;
    }

    /**
     * Opens the feed, or else the dataset.
     *
     * @param path the dataset; null if there is a feed
     * @param redis the server that lookups in a dataset ask first, if there is one
     */
    public KeyedSamples open(@Nullable String path, VersionOptions version, RedisOption redis) throws IOException {
        if (feed != null) {
            redis.requireNone("--feed");
            return FedSamples.open(feed, Optional.ofNullable(stream), version.number());
        }
        if (stream != null) {
            throw new IllegalArgumentException("option --stream needs --feed");
        }
        if (path == null) {
            throw new IllegalArgumentException("name a dataset, or a feed with --feed");
        }
        return StoredSamples.open(path, version, redis);
    }
}

package dev.stoker.feeder.plan;

import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.feed.OnCorrupt;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The valid options of a feed. {@link #parse} creates them from arguments; {@link FeedPlan#of} resolves them.
 *
 * @param name of the feed
 * @param streams what to serve
 * @param following whether each epoch reads the newest version
 * @param order default order spec
 * @param end when the feed ends
 * @param onCorrupt what happens on damage that reading again does not heal
 * @param ledger directory or URI of the ledger; by default in the first stream's dataset
 * @param server how servers listen
 * @param ui where servers show their status page
 * @param work parallelism and checkpoints
 */
public record FeedOptions(
        String name,
        List<StreamArgument> streams,
        Following following,
        OrderSpec order,
        End end,
        OnCorrupt onCorrupt,
        Optional<String> ledger,
        FeedPlan.Server server,
        String ui,
        FeedPlan.Work work) {

    /** The version that an epoch reads. */
    public enum Following {
        /** All epochs read the version with which the feed starts. */
        PINNED,
        /** Each epoch reads the newest version. */
        FOLLOWS
    }

    /**
     * When a feed ends.
     *
     * @param groups that must finish; empty for all that have subscribed
     * @param epochs to serve; 0 for no end
     * @param idleTimeout time without trainers after which the feed ends; zero for never
     */
    public record End(List<FeedPlan.Group> groups, long epochs, Duration idleTimeout) {
        public End {
            groups = List.copyOf(groups);
        }
    }

    public FeedOptions {
        streams = List.copyOf(streams);
    }

    /**
     * Parses arguments. Opens no dataset.
     *
     * @throws InvalidFeedException if arguments are invalid; the message names all errors
     */
    public static FeedOptions parse(String... args) {
        return parse(JobArguments.parse(args, FeedFlags.all()));
    }

    /**
     * Parses the options of a feed out of arguments that can also contain options of its target. Opens no dataset.
     *
     * @throws InvalidFeedException if arguments are invalid; the message names all errors
     */
    public static FeedOptions parse(JobArguments arguments) {
        return new FeedOptionsParser(arguments).parse();
    }

    /** Returns the same options with another number of lanes. */
    public FeedOptions withLanes(int lanes) {
        return new FeedOptions(
                name, streams, following, order.withLanes(lanes), end, onCorrupt, ledger, server, ui, work);
    }
}

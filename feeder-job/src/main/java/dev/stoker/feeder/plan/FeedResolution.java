package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Resolves the options of a feed: opens the datasets, pins the versions, counts the lanes, and checks that the ledger
 * can be written. Runs on the machine that submits the job.
 */
final class FeedResolution {

    private FeedResolution() {}

    /** @throws IOException if a dataset cannot be opened, or the ledger cannot be written */
    static FeedPlan plan(FeedOptions options) throws IOException {
        boolean follow = options.following() == FeedOptions.Following.FOLLOWS;
        List<FeedPlan.Stream> resolved = new ArrayList<>();
        for (StreamArgument stream : options.streams()) {
            resolved.add(open(stream, options.order(), follow));
        }
        UUID id = id(options.name(), resolved);
        if (follow) {
            LedgerLocation.requireChoices(resolved, id);
        }
        return new FeedPlan(
                options.name(),
                id,
                resolved,
                options.order().toJson(),
                options.end().groups(),
                options.end().epochs(),
                options.onCorrupt(),
                LedgerLocation.require(options.ledger(), resolved.get(0), id),
                options.end().idleTimeout().toMillis(),
                options.server(),
                options.ui(),
                options.work());
    }

    private static FeedPlan.Stream open(StreamArgument stream, OrderSpec order, boolean follow) throws IOException {
        String location = Stores.normalize(stream.path());
        try (ObjectStore store = Stores.open(location)) {
            Dataset dataset = Dataset.open(store);
            Snapshot snapshot = stream.dataset().open(dataset);
            StreamChunks chunks = Selections.stream(store, snapshot, stream.split(), order.where());
            return new FeedPlan.Stream(
                    stream.name(),
                    location,
                    dataset.info().id(),
                    snapshot.version(),
                    stream.split(),
                    StreamOrder.lanes(chunks, order),
                    follow);
        }
    }

    /**
     * Returns the id of a feed: a version 5 UUID of its name and its datasets. A feed that is started again under the
     * same name over the same datasets therefore continues its ledger.
     */
    static UUID id(String name, List<FeedPlan.Stream> streams) {
        String text = "stoker-feed\n" + name + "\n"
                + streams.stream()
                        .map(stream -> stream.dataset().toString())
                        .sorted()
                        .collect(Collectors.joining(","));
        byte[] digest;
        try {
            digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
        ByteBuffer bytes = ByteBuffer.wrap(digest);
        long high = (bytes.getLong() & ~0xF000L) | 0x5000L;
        long low = (bytes.getLong() & 0x3FFFFFFFFFFFFFFFL) | 0x8000000000000000L;
        return new UUID(high, low);
    }
}

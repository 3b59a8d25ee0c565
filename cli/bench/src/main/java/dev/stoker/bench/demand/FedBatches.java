package dev.stoker.bench.demand;

import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.client.Iteration;
import dev.stoker.client.errors.FeedException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Batches from a feeder. As a trainer would, it obtains each value of each payload field as a view. Without a payload
 * field, it counts the bytes of the messages.
 */
public final class FedBatches implements DemandBatches {
    private final FeedClient client;
    private final List<String> payload;
    private @Nullable Iteration iteration;
    private long epoch = -1;

    /**
     * @param client is closed with this object
     * @throws StokerException if the stream has no batch for this client
     */
    public FedBatches(FeedClient client) throws StokerException {
        this.client = client;
        List<Field> fields = client.info().fields();
        payload = fields.stream().filter(Field::payload).map(Field::name).toList();
        if (client.steps() == 0) {
            client.close();
            throw new StokerException("the dataset " + client.info().dataset() + " has "
                    + client.info().samples() + " samples, too few for a batch of "
                    + client.info().order().batchSize() + " samples for each consumer; use a larger dataset");
        }
    }

    public FeedClient client() {
        return client;
    }

    /** Whether the samples have payload. If not, whole messages are counted. */
    public boolean hasPayload() {
        return !payload.isEmpty();
    }

    /** Returns the number of the epoch that {@link #next} reads now, from 0. */
    public long epoch() {
        return epoch;
    }

    @Override
    public Taken next() {
        if (iteration == null || !iteration.hasNext()) {
            iteration = client.epoch();
            epoch++;
            if (!iteration.hasNext()) {
                throw new FeedException("the feed " + client.info().feed()
                        + " has no further epoch to measure; start it without --epochs");
            }
        }
        try (Batch batch = iteration.next()) {
            long bytes = 0;
            if (payload.isEmpty()) {
                for (ByteBuffer message : batch.messages()) {
                    bytes += message.remaining();
                }
            }
            for (String field : payload) {
                for (int row = 0; row < batch.rows(); row++) {
                    bytes += batch.bytes(field, row).remaining();
                }
            }
            return new Taken(batch.rows(), bytes);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}

package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.selection.Selections;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import java.io.IOException;
import java.util.List;

/**
 * Contains a stream under its order, as read from the dataset.
 *
 * @param reads reads the chunks of the stream
 */
record AuditedStream(Dataset dataset, Snapshot snapshot, StreamOrder order, Fingerprint fingerprint, Reads reads) {

    /**
     * Opens the stream of a subscription.
     *
     * @throws IllegalArgumentException if the order spec is invalid
     */
    static AuditedStream open(Dataset dataset, Source source, Reads reads) throws IOException {
        OrderSpec spec = OrderSpec.fromJson(source.order());
        Snapshot snapshot = dataset.snapshot(source.version());
        StreamChunks chunks = Selections.stream(dataset.store(), snapshot, source.split(), spec.where());
        return new AuditedStream(
                dataset,
                snapshot,
                new StreamOrder(chunks, spec),
                Fingerprint.of(dataset.info().id(), source.version(), source.split(), chunks, spec),
                reads);
    }

    /** Returns the names of the dataset's fields, in dataset order. */
    List<String> fieldNames() {
        return snapshot.info().fields().stream().map(Field::name).toList();
    }
}

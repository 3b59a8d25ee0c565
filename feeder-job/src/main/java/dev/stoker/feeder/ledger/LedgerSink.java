package dev.stoker.feeder.ledger;

import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Writes encoded ledger records to the ledger's store, wherever that is: one object a subtask and checkpoint, when
 * there was something to write. The first subtask merges the objects of finished hours and days.
 */
public final class LedgerSink implements Sink<byte[]>, SupportsWriterState<byte[], LedgerFile> {

    private static final long serialVersionUID = 1;

    private final String location;
    private final UUID feed;

    /**
     * @param location directory or URI of the ledger
     * @param feed whose ledger it is
     */
    public LedgerSink(String location, UUID feed) {
        this.location = location;
        this.feed = feed;
    }

    @Override
    public LedgerSinkWriter createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public LedgerSinkWriter restoreWriter(WriterInitContext context, Collection<LedgerFile> unpublished)
            throws IOException {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        LedgerProgress progress =
                LedgerProgress.begin(feed, context.getTaskInfo().getIndexOfThisSubtask());
        LedgerPublisher publisher = new LedgerPublisher(
                location,
                () -> Stores.open(location),
                (file, epoch) -> DeliverySign.leave(location, feed, epoch, file),
                progress);
        for (LedgerFile file : unpublished) {
            publisher.restore(file, 0);
        }
        Optional<LedgerMerger> merger = context.getTaskInfo().getIndexOfThisSubtask() == 0
                ? Optional.of(new LedgerMerger(
                        location, () -> Stores.open(location), InstantSource.system(), LedgerMerger.Rounds.USUAL))
                : Optional.empty();
        return new LedgerSinkWriter(publisher, progress, merger);
    }

    @Override
    public SimpleVersionedSerializer<LedgerFile> getWriterStateSerializer() {
        return new LedgerFileSerializer();
    }
}

package dev.stoker.feeder.ledger;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;

/**
 * Collects the records between two checkpoints and hands them to the publisher as one file. What is not known to be
 * published is part of the checkpoint, so a restored writer publishes it under the same name. Runs on the task's
 * thread.
 */
final class LedgerSinkWriter implements StatefulSinkWriter<byte[], LedgerFile> {

    private final LedgerPublisher publisher;
    private final LedgerProgress progress;
    private final Optional<LedgerMerger> merger;
    private final List<byte[]> records = new ArrayList<>();

    LedgerSinkWriter(LedgerPublisher publisher, LedgerProgress progress) {
        this(publisher, progress, Optional.empty());
    }

    LedgerSinkWriter(LedgerPublisher publisher, LedgerProgress progress, Optional<LedgerMerger> merger) {
        this.publisher = publisher;
        this.progress = progress;
        this.merger = merger;
    }

    @Override
    public void write(byte[] entry, Context context) {
        records.add(entry);
    }

    @Override
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        // A barrier alone does not wait for the store; the state carries what is on its way.
        if (endOfInput) {
            submit(0);
            publisher.await();
        }
    }

    @Override
    public List<LedgerFile> snapshotState(long checkpoint) throws IOException {
        try {
            submit(checkpoint);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for the ledger's store");
        }
        return publisher.unpublished();
    }

    private void submit(long checkpoint) throws IOException, InterruptedException {
        if (records.isEmpty()) {
            publisher.reach(checkpoint);
        } else {
            publisher.submit(LedgerFile.of(records), checkpoint);
            records.clear();
        }
    }

    @Override
    public void close() {
        try {
            merger.ifPresent(LedgerMerger::close);
            publisher.close();
        } finally {
            progress.end();
        }
    }
}

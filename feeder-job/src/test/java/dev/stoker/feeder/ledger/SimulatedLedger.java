package dev.stoker.feeder.ledger;

import dev.stoker.server.threads.Threads;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The ledger's sink of one task on simulated threads, with its state as bytes. */
public final class SimulatedLedger implements AutoCloseable {
    private static final LedgerFileSerializer FILES = new LedgerFileSerializer();

    private final LedgerSinkWriter writer;
    private final LedgerProgress progress;

    /**
     * Begins to write, first what a checkpoint says is not known to be written.
     *
     * @param state of the checkpoint
     */
    public SimulatedLedger(UUID feed, int subtask, ObjectStore store, Threads threads, List<byte[]> state)
            throws IOException {
        progress = LedgerProgress.begin(feed, subtask);
        LedgerPublisher publisher = new LedgerPublisher(
                "simulated ledger", () -> store, (file, epoch) -> {}, progress, LedgerPublisher.Pauses.USUAL, threads);
        for (byte[] file : state) {
            publisher.restore(FILES.deserialize(FILES.getVersion(), file), 0);
        }
        this.writer = new LedgerSinkWriter(publisher, progress);
    }

    /** Takes a record. */
    public void write(byte[] entry) {
        writer.write(entry, null);
    }

    /** As before a checkpoint, or as at the end of the input. */
    public void flush(boolean endOfInput) throws IOException, InterruptedException {
        writer.flush(endOfInput);
    }

    /** The state of a checkpoint. */
    public List<byte[]> snapshot(long checkpoint) throws IOException, InterruptedException {
        List<byte[]> state = new ArrayList<>();
        for (LedgerFile file : writer.snapshotState(checkpoint)) {
            state.add(FILES.serialize(file));
        }
        return state;
    }

    /** Simulates the death of the process, which loses its memory. */
    public void vanish() {
        progress.end();
    }

    @Override
    public void close() {
        writer.close();
    }
}

package dev.stoker.bench.demand;

/** The batches of one emulated accelerator or trainer, epoch after epoch. For one thread. */
public interface DemandBatches extends AutoCloseable {

    /**
     * A batch; every payload value in it was obtained as a view.
     *
     * @param samples in the batch
     * @param bytes of their payload
     */
    record Taken(int samples, long bytes) {}

    /** Waits for the next batch. */
    Taken next();

    @Override
    void close();
}

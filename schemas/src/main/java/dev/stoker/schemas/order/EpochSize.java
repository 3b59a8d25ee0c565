package dev.stoker.schemas.order;

/**
 * Contains the lengths of every epoch of a stream.
 *
 * @param samples number of live rows of the stream
 * @param batchSize number of rows of a full batch
 */
public record EpochSize(long samples, int batchSize) {
    public EpochSize {
        if (samples < 0 || batchSize < 1) {
            throw new IllegalArgumentException("no epoch: samples " + samples + ", batch size " + batchSize);
        }
    }

    /** Returns the number of batches of an epoch, including the short last one. */
    public long batches() {
        return samples / batchSize + (samples % batchSize == 0 ? 0 : 1);
    }

    /** Returns the number of batches with exactly {@code batchSize} rows. */
    public long wholeBatches() {
        return samples / batchSize;
    }

    /** Returns the number of rows of the last batch; 0 if there is none. */
    public int lastRows() {
        int rest = (int) (samples % batchSize);
        return rest == 0 && samples > 0 ? batchSize : rest;
    }
}

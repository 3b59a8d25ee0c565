package dev.stoker.server.feed;

/**
 * What trainers have used, as opposed to what they were sent: samples of pieces that they have acknowledged.
 *
 * @param rows samples
 * @param bytes estimated: the bytes sent, in proportion to the samples
 */
public record Used(long rows, long bytes) {

    /** Estimates the bytes of used samples from the average of all that were sent. */
    public static Used of(long usedRows, long sentRows, long sentBytes) {
        // Receipts repeated from before a restart of the feeder are of samples that this one did not send.
        double share = sentRows == 0 ? 0 : Math.min(1, (double) usedRows / sentRows);
        return new Used(usedRows, Math.round(share * sentBytes));
    }
}

package dev.stoker.client.stats;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What happened since a client was opened.
 *
 * @param batches handed out
 * @param samples in these batches
 * @param bytes received in messages
 * @param localReadBytes the part of {@code bytes} that was read from the feeder's files on this machine
 * @param elapsed since the first batch was asked for
 * @param waited how long the trainer waited for batches
 * @param causes the waits by cause, longest first: {@code start} (of an epoch), {@code origin}, {@code disk}, {@code
 *     network}, {@code feeder}, {@code corrupt}, {@code connect}, {@code kafka} (of a topic); see docs/operations.md
 * @param stalls the waits by feeder and lane, longest first
 * @param connections to feeders at present
 * @param unixConnections the part of {@code connections} that uses Unix-domain sockets
 * @param reconnects connections that ended
 * @param failovers times that the client replaced a feeder by another
 * @param corruptPieces pieces that arrived damaged and were fetched again
 * @param duplicatePieces pieces that arrived twice
 */
public record FeedStats(
        long batches,
        long samples,
        long bytes,
        long localReadBytes,
        Duration elapsed,
        Duration waited,
        Map<String, Duration> causes,
        List<Stall> stalls,
        int connections,
        int unixConnections,
        int reconnects,
        int failovers,
        long corruptPieces,
        long duplicatePieces) {
    /**
     * Time that the trainer waited for one lane of one feeder.
     *
     * @param cause see {@link FeedStats#causes}
     * @param feeder its address
     * @param lane of the stream
     * @param waited in total
     * @param times number of waits
     */
    public record Stall(String cause, String feeder, int lane, Duration waited, long times) {}

    /** The share of the time that the trainer waited; 0 before the first batch. */
    public double waitShare() {
        return elapsed.isZero() ? 0 : (double) waited.toNanos() / elapsed.toNanos();
    }
}

package dev.stoker.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What happened since a client was opened.
 *
 * @param batches handed out
 * @param samples of those
 * @param bytes received in messages
 * @param handedBytes of those, read from the feeder's files on this machine
 * @param elapsed since the first batch was asked for
 * @param waited by the trainer, for batches
 * @param causes what it waited for, longest first: {@code start} (of an epoch), {@code origin}, {@code disk}, {@code network}, {@code
 *     feeder}, {@code corrupt}, {@code connect}, {@code kafka} (of a topic); see docs/operations.md
 * @param stalls the same by feeder and lane, longest first
 * @param connections to feeders at present
 * @param unixConnections of those, over Unix-domain sockets
 * @param reconnects connections that ended
 * @param failovers times that a feeder was given up for another
 * @param corruptPieces pieces that came damaged and were fetched again
 * @param duplicatePieces pieces that came twice
 */
public record FeedStats(
        long batches,
        long samples,
        long bytes,
        long handedBytes,
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
     * @param waited together
     * @param times that it did
     */
    public record Stall(String cause, String feeder, int lane, Duration waited, long times) {}

    /** The part of the time that the trainer waited; 0 before the first batch. */
    public double waitShare() {
        return elapsed.isZero() ? 0 : (double) waited.toNanos() / elapsed.toNanos();
    }
}

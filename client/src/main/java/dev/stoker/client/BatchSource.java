package dev.stoker.client;

import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where a client's batches come from: feeders, or a topic. All but {@link #lock}, {@link #connect} and {@link #stop} is called with the lock
 * held; all by the trainer's thread, but for {@link #stats} and {@link #welcome}, which any may call.
 */
interface BatchSource {
    /** Guards what is shared with the source's own threads, and the client's position. */
    ReentrantLock lock();

    /** Waits until the stream is known; at most for the connect time-out. Ends the source if that fails. */
    void connect();

    /** What is known of the stream. */
    Welcome welcome();

    /**
     * Goes over to an epoch, where each has a version of its own; between two epochs, and only if {@link Welcome#follows}.
     *
     * @param version of the epoch, by a state that goes on in it
     * @throws StateMismatchException if it has another
     */
    void turnTo(long epoch, OptionalLong version);

    /** Throws what has ended the source, if something has. */
    void requireSound();

    /** What the trainer reads; null before the first epoch. */
    Span reading();

    /** The span of a range: the one that is already expected, or a new one. */
    Span span(Span.Range range);

    /** The trainer goes over to a span. */
    void begin(Span span);

    /** The trainer goes over to a span without a number, and so has finished its epoch. */
    void beginEmpty(Span span);

    /** The span that the trainer will go over to after the one it reads, by its own word. */
    void expect(Span span);

    /** All that was asked for is asked for now. */
    void hurry();

    /** The pieces of a batch; waits for them. */
    List<Piece> take(Span span, long index);

    /** The trainer is done with a batch. */
    void acknowledge(Span span, long index, List<Piece> pieces);

    Buffers buffers();

    Tally tally();

    FeedStats stats();

    /** Nothing more is wanted; what was consumed is told within a second. */
    void stop();
}

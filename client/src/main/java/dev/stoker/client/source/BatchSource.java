package dev.stoker.client.source;

import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.protocol.Welcome;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The source of a client's batches: feeders, or a topic. The caller holds the lock, except for {@link #lock}, {@link
 * #connect} and {@link #stop}. The trainer's thread makes all calls, except for {@link #stats} and {@link #welcome},
 * which any thread may call.
 */
public interface BatchSource {
    /** Guards the client's position and the state shared with the source's threads. */
    ReentrantLock lock();

    /** Waits until the stream is known, at most for the connect time-out. Ends the source on failure. */
    void connect();

    /** The description of the stream. */
    Welcome welcome();

    /**
     * Switches to an epoch of a feed whose epochs have separate versions. Allowed only between two epochs, and only if
     * {@link Welcome#follows}.
     *
     * @param version the epoch's version according to the state that the client resumes from
     * @throws StateMismatchException if the epoch has another version
     */
    void changeEpoch(long epoch, OptionalLong version);

    /** Throws the failure that ended the source, if there is one. */
    void requireSound();

    /** The span that the trainer reads; null before the first epoch. */
    @Nullable
    Span reading();

    /** The span of a range: the one that is already expected, or a new one. */
    Span span(Span.Range range);

    /** Makes a span the one that the trainer reads. */
    void begin(Span span);

    /** The trainer goes over to a span without a number, and so has finished its epoch. */
    void beginEmpty(Span span);

    /** The span that the trainer will go over to after the one it reads, by its own word. */
    void expect(Span span);

    /** Sends all pending requests now. */
    void hurry();

    /** Waits for the pieces of a batch and returns them. */
    List<ReceivedPiece> take(Span span, long index);

    /** Notes that the trainer has finished a batch. */
    void acknowledge(Span span, long index, List<ReceivedPiece> pieces);

    Buffers buffers();

    ClientStats clientStats();

    FeedStats stats();

    /** Stops the source: asks for nothing more, and reports consumed batches within a second. */
    void stop();
}

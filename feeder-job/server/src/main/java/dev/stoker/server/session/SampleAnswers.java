package dev.stoker.server.session;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.lookup.Lookups;
import dev.stoker.server.lookup.SampleLookup;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers the requests for samples of one session. For the session's sender thread, except {@link #queue}. */
final class SampleAnswers {
    private static final Logger LOG = LoggerFactory.getLogger(SampleAnswers.class);

    private final Session session;
    private final Counters counters;
    private final Lookups lookups;
    private final ServedStream stream;
    private final PieceChannel out;
    private final SendQueue sendQueue;
    private @Nullable SampleLookup samples;

    /** The connection is lost; the origin is not to blame. */
    private static final class LostConnectionException extends IOException {
        private static final long serialVersionUID = 1L;

        LostConnectionException(IOException cause) {
            super(cause);
        }
    }

    /** @param stream in the version that the session looks at */
    SampleAnswers(Session session, Session.Shared shared, ServedStream stream, PieceChannel out, SendQueue sendQueue) {
        this.session = session;
        this.counters = shared.counters();
        this.lookups = shared.chunks().lookups();
        this.stream = stream;
        this.out = out;
        this.sendQueue = sendQueue;
    }

    /**
     * Queues a request for the sender.
     *
     * @throws ProtocolException if the session does not look, or has too many requests without a whole answer
     */
    static void queue(Frame frame, Hello hello, SendQueue sendQueue) throws ProtocolException {
        if (!hello.caller().look()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    frame.type() + ": only a session that looks may request samples; reconnect with HELLO that looks");
        }
        if (!sendQueue.request(frame)) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    frame.type() + ": " + GetSamples.MAX_REQUESTS
                            + " requests have no whole answer yet, which is the limit");
        }
    }

    /**
     * Answers a request. A failure ends the session with an error frame, so the client asks another feeder.
     *
     * @throws IOException if the connection is lost
     */
    void answer(Frame request) throws IOException, InterruptedException {
        try {
            SampleLookup lookup = lookup();
            if (lookup == null) {
                sendQueue.end(new ErrorMessage(
                        ErrorCode.UNSUPPORTED_PROTOCOL,
                        "samples of stream " + stream.name() + " cannot be looked up at this feeder"));
            } else if (request instanceof GetSamples get) {
                count(get.keys().size());
                lookup.answer(get, new Output());
            } else if (request instanceof ListSamples list) {
                count(0);
                new Output().write(new ByteBuffer[] {Frames.encode(lookup.list(list))});
            }
        } catch (LostConnectionException e) {
            throw e;
        } catch (IOException e) {
            boolean damaged = e instanceof CorruptDataException
                    || e instanceof ForeignFileException
                    || e instanceof FormatTooNewException;
            fail(damaged ? ErrorCode.CORRUPT : ErrorCode.ORIGIN_UNAVAILABLE, text(e));
        } catch (IllegalArgumentException e) {
            fail(ErrorCode.TOO_LARGE, ErrorText.of(e));
        } catch (OutOfMemoryError e) {
            fail(
                    ErrorCode.INTERNAL,
                    "the feeder has no memory left for an answer (" + e.getMessage()
                            + "): raise taskmanager.memory.task.off-heap.size");
        }
    }

    private void count(int keys) {
        counters.lookups.increment();
        counters.lookupKeys.add(keys);
    }

    private static String text(IOException e) {
        return e instanceof StokerException ? ErrorText.of(e) : e.toString();
    }

    private @Nullable SampleLookup lookup() throws IOException {
        SampleLookup known = samples;
        if (known == null) {
            Optional<SampleLookup> opened = lookups.of(stream);
            known = opened.orElse(null);
            samples = known;
        }
        return known;
    }

    private void fail(ErrorCode code, String why) {
        LOG.warn("{} ends: a request for samples cannot be answered: {}", session, why);
        sendQueue.end(new ErrorMessage(code, why));
    }

    private final class Output implements SampleLookup.Output {
        @Override
        public void write(ByteBuffer[] parts) throws IOException {
            long bytes = 0;
            for (ByteBuffer part : parts) {
                bytes += part.remaining();
            }
            counters.lookupBytes.add(bytes);
            try {
                out.write(parts, bytes);
            } catch (IOException e) {
                throw new LostConnectionException(e);
            }
        }

        @Override
        public boolean isEnded() {
            return sendQueue.isEnded();
        }
    }
}

package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.session.group.Admission;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection before it is admitted: reads its first frame and hands it to a session, or tells the peer why it is
 * rejected and discards what the peer still sends. Belongs to the accepting thread.
 */
public final class PendingConnection {
    private static final Logger LOG = LoggerFactory.getLogger(PendingConnection.class);
    private static final long HELLO_TIMEOUT_MS = 10_000;
    private static final long FAREWELL_MS = 1_000;
    private static final int FAREWELL_LIMIT = 4 << 20;

    private static final String WANTS_TLS =
            "this feed is served over TLS only: give the trainer the certificate to trust,"
                    + " tls=FILE or STOKER_TLS_CA";

    /** Checks first frames. Runs on the accepting thread and must not block. */
    public interface Gate {
        /**
         * Judges a client.
         *
         * @return what {@link #enter} needs
         * @throws ProtocolException if the client is refused
         */
        Admission judge(Hello hello) throws ProtocolException;

        /** Returns the connection through which a socket is read. */
        Wire wire(SocketChannel channel) throws IOException;

        /**
         * Takes over the connection, which is in blocking mode, its decoder, and the bytes that followed HELLO.
         *
         * @throws ProtocolException if there is no room for a session; the caller then still owns the connection
         */
        void enter(Wire wire, FrameDecoder decoder, Admission admission, byte[] rest) throws IOException;
    }

    private final Gate gate;
    private final SocketChannel channel;
    private final Wire wire;
    private final LongAdder rejected;
    private final FrameDecoder decoder = FrameDecoder.forServer();
    private long deadlineMs;
    /** Set when HELLO was read and its sender may come in. */
    private @Nullable Admission admission;

    private boolean leaving;
    /**
     * Whether the peer has sent anything. Connections without any bytes, such as health checks, do not count as
     * rejected.
     */
    private boolean heard;

    private boolean probes;
    private boolean ended;
    private long discarded;

    PendingConnection(Gate gate, SocketChannel channel, LongAdder rejected, long nowMs) throws IOException {
        this.gate = gate;
        this.channel = channel;
        this.wire = gate.wire(channel);
        this.rejected = rejected;
        this.deadlineMs = nowMs + HELLO_TIMEOUT_MS;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Returns whether it has taken too long to send HELLO, or to close after it was rejected. */
    boolean isExpired(long nowMs) {
        return nowMs >= deadlineMs;
    }

    /** Returns whether it was rejected. */
    boolean isLeaving() {
        return leaving;
    }

    /** Returns whether the peer has sent anything. */
    boolean wasHeard() {
        return heard;
    }

    /** Returns whether the peer has closed the connection. */
    boolean hasEnded() {
        return ended;
    }

    /**
     * Reads the available bytes. Rejects the peer if it may not come in.
     *
     * @return whether the peer sent HELLO and may {@link #enter}; the bytes that follow HELLO stay in the buffer
     */
    boolean read(ByteBuffer input, long nowMs) throws IOException {
        try {
            Optional<Hello> hello = hello(input);
            if (hello.isPresent()) {
                admission = gate.judge(hello.get());
            }
        } catch (ProtocolException e) {
            leave(nowMs, probes);
            reject(e);
        } catch (PlainTextException e) {
            leave(nowMs, e.isProbe());
            rejectPlainText();
        } catch (SSLException e) {
            LOG.info("A connection from {} is not secure: {}", channel.getRemoteAddress(), e.getMessage());
            leave(nowMs, false);
            channel.shutdownOutput();
        }
        return admission != null;
    }

    /**
     * Hands the connection, which is no longer selected, to its session. If there is no room for a session, the peer is
     * rejected as it would be by {@link #read}.
     *
     * @param input the bytes that followed HELLO
     * @return whether the session has begun
     */
    boolean enter(ByteBuffer input, long nowMs) throws IOException {
        byte[] rest = new byte[input.remaining()];
        input.get(rest);
        channel.configureBlocking(true);
        wire.admitted();
        try {
            gate.enter(wire, decoder, Objects.requireNonNull(admission, "the peer was let in"), rest);
            return true;
        } catch (ProtocolException e) {
            channel.configureBlocking(false);
            leave(nowMs, probes);
            reject(e);
            return false;
        }
    }

    /** Reads the available bytes. Returns HELLO once it is complete. */
    private Optional<Hello> hello(ByteBuffer input) throws IOException {
        int bytes;
        // Read all bytes that are available: the socket does not become ready again for bytes that TLS has decrypted.
        while ((bytes = wire.read(input.clear())) > 0 && Acceptor.nowMs() < deadlineMs) {
            probes = !heard && Protocol.isProbe(input.duplicate().flip());
            heard = true;
            Optional<Frame> frame = decoder.next(input.flip());
            if (frame.isPresent()) {
                // The decoder guarantees that HELLO is the first frame and that nothing else precedes WELCOME.
                return Optional.of((Hello) frame.get());
            }
        }
        ended = bytes < 0;
        heard |= !ended;
        return Optional.empty();
    }

    /** Notes and counts a rejection, unless it was a probe. The peer has some time to close the connection. */
    private void leave(long nowMs, boolean isProbe) {
        if (!isProbe) {
            rejected.increment();
        }
        leaving = true;
        deadlineMs = nowMs + FAREWELL_MS;
    }

    /** Tells the peer why it is rejected, and ends the output. */
    private void reject(ProtocolException why) throws IOException {
        // A socket without earlier output accepts a small frame at once. A peer that prevents this gets no error frame.
        wire.write(Frames.encode(ErrorMessage.of(why)));
        wire.shutdownOutput();
    }

    /** Tells a peer that speaks plain text that this feed requires TLS, and ends the output. */
    private void rejectPlainText() throws IOException {
        channel.write(Frames.encode(new ErrorMessage(ErrorCode.UNAUTHORIZED, WANTS_TLS)));
        channel.shutdownOutput();
    }

    /** Reads and discards what a rejected peer sends. Returns false once the peer has closed, or sent too much. */
    boolean discard(ByteBuffer input) throws IOException {
        int count = channel.read(input.clear());
        discarded += Math.max(0, count);
        return count >= 0 && discarded <= FAREWELL_LIMIT;
    }
}

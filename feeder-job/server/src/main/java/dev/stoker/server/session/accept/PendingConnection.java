package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;

/**
 * One connection before it is admitted: reads its first frame, or tells the peer why it is rejected and discards what
 * the peer still sends. Belongs to the accepting thread.
 */
final class PendingConnection {
    private static final long HELLO_TIMEOUT_MS = 10_000;
    private static final long FAREWELL_MS = 1_000;
    private static final int FAREWELL_LIMIT = 4 << 20;

    private static final String WANTS_TLS =
            "this feed is served over TLS only: give the trainer the certificate to trust,"
                    + " tls=FILE or STOKER_TLS_CA";

    private final SocketChannel channel;
    private final Wire wire;
    private final FrameDecoder decoder = FrameDecoder.forServer();
    private long deadlineMs;
    private boolean leaving;
    /**
     * Whether the peer has sent anything. Connections without any bytes, such as health checks, do not count as
     * rejected.
     */
    private boolean heard;

    private boolean probes;
    private boolean ended;
    private long discarded;

    PendingConnection(Wire wire, long nowMs) {
        this.channel = wire.socket();
        this.wire = wire;
        this.deadlineMs = nowMs + HELLO_TIMEOUT_MS;
    }

    SocketChannel channel() {
        return channel;
    }

    Wire wire() {
        return wire;
    }

    /** Returns the decoder that has read HELLO. */
    FrameDecoder decoder() {
        return decoder;
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

    /** Returns whether the peer only probes the server. */
    boolean isProbe() {
        return probes;
    }

    /** Returns whether the peer has closed the connection. */
    boolean hasEnded() {
        return ended;
    }

    /** Reads the available bytes. Returns HELLO once it is complete; the bytes that follow it stay in the buffer. */
    Optional<Hello> read(ByteBuffer input) throws IOException {
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

    /** Notes that it is rejected. The peer has some time to close the connection. */
    void leave(long nowMs) {
        leaving = true;
        deadlineMs = nowMs + FAREWELL_MS;
    }

    /** Tells the peer why it is rejected, and ends the output. */
    void reject(ErrorMessage error) throws IOException {
        // A socket without earlier output accepts a small frame at once. A peer that prevents this gets no error frame.
        wire.write(Frames.encode(error));
        wire.shutdownOutput();
    }

    /** Tells a peer that speaks plain text that this feed requires TLS, and ends the output. */
    void rejectPlainText() throws IOException {
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

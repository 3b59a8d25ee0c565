package dev.stoker.server;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** A plain client: one frame at a time, nothing behind the caller's back. Reads of TCP time out after ten seconds. */
public final class RawClient implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final Closeable connection;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    private ByteBuffer rest = ByteBuffer.allocate(0);
    private long received;

    private RawClient(String address, int receiveBuffer, Optional<SSLContext> tls) throws IOException {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        int port = Integer.parseInt(address.substring(colon + 1));
        Socket plain = new Socket();
        if (receiveBuffer > 0) {
            plain.setReceiveBufferSize(receiveBuffer);
        }
        plain.connect(new InetSocketAddress(host, port));
        plain.setTcpNoDelay(true);
        plain.setSoTimeout(10_000);
        socket = tls.isPresent() ? tls.get().getSocketFactory().createSocket(plain, host, port, true) : plain;
        in = socket.getInputStream();
        out = socket.getOutputStream();
        connection = socket;
    }

    private RawClient(SocketChannel channel) {
        socket = null;
        in = Channels.newInputStream(channel);
        out = Channels.newOutputStream(channel);
        connection = channel;
    }

    /** Connects to a Unix-domain socket. */
    public static RawClient connect(UnixAddress address) throws IOException {
        return new RawClient(SocketChannel.open(UnixDomainSocketAddress.of(address.path())));
    }

    /** Connects to {@code host:port}. */
    public static RawClient connect(String address) throws IOException {
        return new RawClient(address, 0, Optional.empty());
    }

    /** Connects under TLS; the handshake comes with the first frame. */
    public static RawClient connect(String address, SSLContext tls) throws IOException {
        return new RawClient(address, 0, Optional.of(tls));
    }

    /** Connects with a small receive buffer, so that little is in flight. */
    public static RawClient connectNarrow(String address) throws IOException {
        return new RawClient(address, 4096, Optional.empty());
    }

    /** A HELLO with everything left to the server. */
    public static Hello hello() {
        return hello(Participant.rank(0, 1), 0);
    }

    /** A HELLO of a rank in a run. */
    public static Hello hello(Participant participant, long run) {
        return new Hello(
                        Optional.empty(),
                        "test/1",
                        new Hello.PassRequest(
                                Optional.empty(), Optional.empty(), Hello.DEFAULT_GROUP, OrderOverlay.fromJson("{}")),
                        participant,
                        0,
                        run)
                .by(process(1));
    }

    /** A process of this machine; the trainers of a test are one, unless it says otherwise. */
    public static Caller process(long pid) {
        return new Caller(0, 0, false, Optional.of(new Instance("test-boot", pid, 1, "test-host")), Optional.empty());
    }

    /** Says hello; anything but WELCOME is an {@link Ended}. */
    public Welcome join(Hello hello) throws IOException {
        send(hello);
        return expect(Welcome.class);
    }

    @SuppressWarnings("ByteBufferBackingArray") // Frames are encoded into whole arrays.
    public void send(Frame frame) throws IOException {
        ByteBuffer bytes = Frames.encode(frame);
        sendRaw(bytes.array(), bytes.position(), bytes.remaining());
    }

    public void sendRaw(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    /** The next frame. */
    public Frame receive() throws IOException {
        while (true) {
            Optional<Frame> frame = decoder.next(rest);
            if (frame.isPresent()) {
                return frame.get();
            }
            if (!rest.hasRemaining()) {
                byte[] bytes = new byte[1 << 16];
                int n = in.read(bytes);
                if (n < 0) {
                    throw new EOFException("the server closed the connection");
                }
                received += n;
                rest = ByteBuffer.wrap(bytes, 0, n);
            }
        }
    }

    /**
     * The next frame, which must be of this type; an ERROR is an {@link Ended}. Lane maps are passed over, PINGs
     * answered.
     */
    public <T extends Frame> T expect(Class<T> type) throws IOException {
        while (true) {
            Frame frame = receive();
            if (type.isInstance(frame)) {
                return type.cast(frame);
            }
            if (frame instanceof ErrorMessage error) {
                throw new Ended(error);
            }
            if (frame instanceof Ping ping) {
                send(new Pong(ping.opaque()));
            } else if (!(frame instanceof LaneMap)) {
                throw new AssertionError("expected " + type.getSimpleName() + ", got " + frame);
            }
        }
    }

    /** The next batch, whose checksum must be right. */
    public Batch expectIntact() throws IOException {
        Batch batch = expect(Batch.class);
        if (!batch.isIntact()) {
            throw new AssertionError("checksum of " + batch);
        }
        return batch;
    }

    /** Bytes of the frames that {@link #receive} has returned. */
    public long receivedBytes() {
        return received - rest.remaining() - decoder.pendingBytes();
    }

    /** Whether bytes can be read without waiting. */
    public boolean hasInput() throws IOException {
        return rest.hasRemaining() || in.available() > 0;
    }

    public Socket socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }

    /** The server ended the session with an ERROR. */
    public static final class Ended extends IOException {
        private static final long serialVersionUID = 1L;
        private final String code;

        public Ended(ErrorMessage error) {
            super(error.code() + ": " + error.message());
            this.code = error.code();
        }

        public String code() {
            return code;
        }
    }
}

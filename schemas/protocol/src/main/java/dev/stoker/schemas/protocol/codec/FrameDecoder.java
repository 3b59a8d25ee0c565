package dev.stoker.schemas.protocol.codec;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Frame.Selected;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Splits the bytes of one connection into frames.
 *
 * <p>The decoder checks a frame's type, direction, turn and length as soon as it has the first eight bytes, before it
 * allocates memory for the frame. The buffer then grows with the bytes that arrive, never to the announced length.
 * After a {@link ProtocolException} the connection cannot be used any more. Not thread-safe.
 */
public final class FrameDecoder {
    private static final int FIRST_BUFFER = 4096;

    private final FrameType.Sender peer;
    private final byte[] prefix = new byte[Protocol.PREFIX_BYTES];
    private int prefixBytes;
    private byte[] body = new byte[0];
    private int bodyBytes;
    /** Bytes after the prefix, including the checksum. */
    private int bodyLength;

    private @Nullable FrameType type;
    private int flags;
    private boolean greeted;
    private boolean welcomed;
    private boolean broken;

    private FrameDecoder(FrameType.Sender peer) {
        this.peer = peer;
    }

    /** Creates a decoder for frames of a client. */
    public static FrameDecoder forServer() {
        return new FrameDecoder(FrameType.Sender.CLIENT);
    }

    /** Creates a decoder for frames of a server. */
    public static FrameDecoder forClient() {
        return new FrameDecoder(FrameType.Sender.SERVER);
    }

    /**
     * Permits frames other than HELLO, and longer ones. A server calls this after it has sent WELCOME; the decoder of a
     * client recognizes the WELCOME itself.
     */
    public void welcomed() {
        if (!greeted) {
            throw new IllegalStateException("no HELLO was decoded yet");
        }
        welcomed = true;
    }

    /**
     * Returns the next frame if the buffer's bytes complete one, and moves the buffer's position past the consumed
     * bytes. Call again until it returns nothing, then with more bytes.
     */
    public Optional<Frame> next(ByteBuffer in) throws ProtocolException {
        if (broken) {
            throw new IllegalStateException("the peer broke the protocol on this connection before");
        }
        try {
            return advance(in);
        } catch (ProtocolException e) {
            broken = true;
            body = new byte[0];
            throw e;
        }
    }

    /** Returns the number of buffered bytes of an incomplete frame; 0 between frames, where a connection may end. */
    public int pendingBytes() {
        return prefixBytes + bodyBytes;
    }

    private Optional<Frame> advance(ByteBuffer in) throws ProtocolException {
        if (type == null) {
            int take = Math.min(in.remaining(), Protocol.PREFIX_BYTES - prefixBytes);
            in.get(prefix, prefixBytes, take);
            prefixBytes += take;
            if (prefixBytes < Protocol.PREFIX_BYTES) {
                return Optional.empty();
            }
            readPrefix();
        }
        if (bodyBytes == 0 && in.remaining() >= bodyLength) {
            ByteBuffer whole = in.slice(in.position(), bodyLength);
            in.position(in.position() + bodyLength);
            // A BATCH keeps its message, and the caller reuses its buffer.
            return Optional.of(complete(type == FrameType.BATCH ? copy(whole) : whole));
        }
        int take = Math.min(in.remaining(), bodyLength - bodyBytes);
        if (bodyBytes + take > body.length) {
            long grown = Math.max(Math.max(FIRST_BUFFER, 2L * body.length), bodyBytes + take);
            body = Arrays.copyOf(body, (int) Math.min(grown, bodyLength));
        }
        in.get(body, bodyBytes, take);
        bodyBytes += take;
        return bodyBytes < bodyLength ? Optional.empty() : Optional.of(complete(ByteBuffer.wrap(body, 0, bodyLength)));
    }

    private static ByteBuffer copy(ByteBuffer bytes) {
        return ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
    }

    private void readPrefix() throws ProtocolException {
        ByteBuffer in = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN);
        long length = Integer.toUnsignedLong(in.getInt());
        int code = Byte.toUnsignedInt(in.get());
        flags = Byte.toUnsignedInt(in.get());
        int reserved = in.getShort();
        FrameType found = FrameType.byCode(code);
        if (found == null) {
            throw ProtocolException.badFrame("frame type " + code + " is not known");
        }
        if (!found.isSentBy(peer)) {
            throw ProtocolException.badFrame(
                    found + " is not for a " + (isServer() ? "client" : "server") + " to send");
        }
        requireTurn(found);
        if (reserved != 0
                || flags > (found == FrameType.BATCH || found == FrameType.BATCH_REF ? BatchHeader.REPEATED : 0)) {
            throw ProtocolException.badFrame(found + ": flags are " + flags + ", reserved bytes " + reserved
                    + ": expected none that this version does not know");
        }
        long limit = limit(found);
        long bytes = length - (Protocol.PREFIX_BYTES - Protocol.LENGTH_BYTES) - found.checksumBytes();
        if (length > limit || !found.allowsBody(bytes)) {
            throw ProtocolException.badFrame(
                    found + ": a length of " + length + " is not possible here (limit " + limit + ")");
        }
        bodyLength = (int) bytes + found.checksumBytes();
        type = found;
    }

    private void requireTurn(FrameType found) throws ProtocolException {
        if (isServer() ? inTurnForServer(found) : inTurnForClient(found)) {
            return;
        }
        String when = welcomed ? "after WELCOME" : isServer() && !greeted ? "before HELLO" : "before WELCOME";
        throw ProtocolException.badFrame(found + " comes out of turn, " + when);
    }

    private boolean inTurnForServer(FrameType found) {
        return found == FrameType.HELLO ? !greeted : welcomed;
    }

    private boolean inTurnForClient(FrameType found) {
        return switch (found) {
            case WELCOME -> !welcomed;
            case ERROR, BYE -> true;
            default -> welcomed;
        };
    }

    private Frame complete(ByteBuffer whole) throws ProtocolException {
        if (type == FrameType.HELLO) {
            Hello.checkVersion(whole);
        }
        if (Objects.requireNonNull(type, "the prefix was read").checksumBytes() > 0) {
            checkSum(whole);
        }
        Frame frame = decode(type, flags, whole);
        greeted |= type == FrameType.HELLO;
        welcomed |= type == FrameType.WELCOME;
        type = null;
        prefixBytes = 0;
        bodyBytes = 0;
        bodyLength = 0;
        if (body.length > FIRST_BUFFER || frame instanceof Batch) {
            body = new byte[0];
        }
        return frame;
    }

    /**
     * Decodes a frame from its body.
     *
     * @param body between position and limit; the frame copies its content, except the message of a BATCH
     */
    private static Frame decode(FrameType type, int flags, ByteBuffer body) throws ProtocolException {
        body.order(ByteOrder.LITTLE_ENDIAN);
        try {
            return switch (type) {
                case HELLO -> Hello.read(body);
                case WELCOME -> Welcome.read(body);
                case SUBSCRIBE -> Subscribe.read(body);
                case GRANT -> {
                    long subscription = u32(body);
                    zero(type, body.getInt());
                    yield new Grant(subscription, body.getLong());
                }
                case BATCH -> new Batch(BatchHeader.read(flags, body), body.slice());
                case ACK -> Ack.read(body);
                case DURABLE -> new Durable(body.getLong());
                case NACK -> {
                    long subscription = u32(body);
                    long epoch = u32(body);
                    long number = body.getLong();
                    int piece = u16(body);
                    zero(type, body.getShort());
                    yield new Nack(subscription, epoch, number, piece, body.getInt());
                }
                case EPOCH_END -> new EpochEnd(u32(body), u32(body), body.getLong(), body.getLong());
                case PING -> new Ping(body.getLong());
                case PONG -> new Pong(body.getLong());
                case BYE -> new Bye();
                case ERROR -> ErrorMessage.read(body);
                case FILE -> FileAnnouncement.read(body);
                case BATCH_REF -> BatchRef.read(flags, body);
                case RELEASE -> new Release(body.getLong());
                case LANE_MAP -> LaneMap.read(body);
                case STATS -> Stats.read(body);
                case DELAY -> {
                    long subscription = u32(body);
                    long epoch = u32(body);
                    long number = body.getLong();
                    int piece = u16(body);
                    zero(type, body.getShort());
                    yield new Delay(subscription, epoch, number, piece, u32(body), u32(body), u32(body));
                }
                case SELECT -> Select.read(body);
                case SELECTED -> new Selected(body.getLong(), body.getLong());
                case GET -> GetSamples.read(body);
                case SAMPLES -> Samples.read(body);
                case LIST -> ListSamples.read(body);
                case ENTRIES -> Entries.read(body);
            };
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new ProtocolException(ErrorCode.BAD_FRAME, type + ": " + e.getMessage(), e);
        }
    }

    private static void zero(FrameType type, int reserved) throws ProtocolException {
        if (reserved != 0) {
            throw ProtocolException.badFrame(type + ": reserved bytes are not 0");
        }
    }

    private static long u32(ByteBuffer body) {
        return Integer.toUnsignedLong(body.getInt());
    }

    private static int u16(ByteBuffer body) {
        return Short.toUnsignedInt(body.getShort());
    }

    /** Compares the checksum at the end of a body with its bytes, and removes it. */
    private void checkSum(ByteBuffer whole) throws ProtocolException {
        int end = whole.limit() - Protocol.CHECKSUM_BYTES;
        int sent = whole.order(ByteOrder.LITTLE_ENDIAN).getInt(end);
        whole.limit(end);
        CRC32C crc = new CRC32C();
        crc.update(prefix, Protocol.LENGTH_BYTES, Protocol.PREFIX_BYTES - Protocol.LENGTH_BYTES);
        crc.update(whole.duplicate());
        int found = (int) crc.getValue();
        if (found != sent) {
            throw ProtocolException.badFrame(type + ": the bytes have CRC-32C " + Crc32cs.hex(found) + ", expected "
                    + Crc32cs.hex(sent) + ": they were changed on the way");
        }
    }

    private long limit(FrameType found) {
        if (isServer()) {
            return welcomed ? Protocol.MAX_FROM_CLIENT : Protocol.MAX_BEFORE_WELCOME;
        }
        return found == FrameType.BATCH || found == FrameType.SAMPLES ? Protocol.MAX_BATCH : Protocol.MAX_FROM_SERVER;
    }

    private boolean isServer() {
        return peer == FrameType.Sender.CLIENT;
    }
}

package dev.stoker.schemas.protocol.codec;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
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
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes frames, and decodes bodies of frames.
 *
 * <pre>
 * 0 u32 length (bytes after this field)    4 u8 type    5 u8 flags    6 u16 0    8 body    u32 CRC-32C from byte 4 on
 * </pre>
 *
 * BATCH and BATCH_REF have their checksum in the header and none at the end.
 */
public final class Frames {
    private static final int HELLO_FIXED = 8;
    private static final int SUBSCRIBE_FIXED = 40;
    private static final int ACK_FIXED = 16;
    /** Flag of SUBSCRIBE. */
    private static final int EMPTY_SHARE = 1;

    private Frames() {}

    /**
     * Encodes a whole frame. For BATCH frames, send {@link BatchHeader#put} and the message separately, which copies
     * nothing.
     *
     * @throws IllegalArgumentException if the frame is longer than its sender may send
     */
    public static ByteBuffer encode(Frame frame) {
        ByteBuffer body = body(frame);
        int checksum = frame.type().checksumBytes();
        long length = (long) body.remaining() + Protocol.PREFIX_BYTES - Protocol.LENGTH_BYTES + checksum;
        long limit = limit(frame.type());
        if (length > limit) {
            throw new IllegalArgumentException(
                    frame.type() + " of " + length + " bytes: at most " + limit + " may be sent");
        }
        ByteBuffer out = allocate(Protocol.LENGTH_BYTES + (int) length);
        out.putInt((int) length).put((byte) frame.type().code());
        out.put((byte) (isRepeated(frame) ? BatchHeader.REPEATED : 0));
        out.putShort((short) 0).put(body);
        if (checksum > 0) {
            out.putInt(Crc32cs.of(out.slice(Protocol.LENGTH_BYTES, out.position() - Protocol.LENGTH_BYTES)));
        }
        return out.flip();
    }

    private static boolean isRepeated(Frame frame) {
        return frame instanceof Batch batch
                ? batch.header().identity().repeated()
                : frame instanceof BatchRef ref && ref.header().identity().repeated();
    }

    private static long limit(FrameType type) {
        return switch (type) {
            case HELLO -> Protocol.MAX_BEFORE_WELCOME;
            case BATCH, SAMPLES -> Protocol.MAX_BATCH;
            case WELCOME, LANE_MAP, BATCH_REF, ENTRIES -> Protocol.MAX_FROM_SERVER;
            default -> Protocol.MAX_FROM_CLIENT;
        };
    }

    private static ByteBuffer body(Frame frame) {
        return switch (frame.type()) {
            case HELLO -> hello((Hello) frame);
            case WELCOME -> ByteBuffer.wrap(FrameJson.of((Welcome) frame));
            case SUBSCRIBE -> subscribe((Subscribe) frame);
            case GRANT -> {
                Grant grant = (Grant) frame;
                yield allocate(16)
                        .putInt((int) grant.subscription())
                        .putInt(0)
                        .putLong(grant.through())
                        .flip();
            }
            case BATCH -> batch((Batch) frame);
            case ACK -> {
                Ack ack = (Ack) frame;
                ByteBuffer out = allocate(ACK_FIXED + ack.rawEntries().length);
                out.putInt((int) ack.subscription()).putInt((int) ack.epoch());
                yield out.putInt(ack.count()).putInt(0).put(ack.rawEntries()).flip();
            }
            case DURABLE -> eight(((Durable) frame).entries());
            case NACK -> {
                Nack nack = (Nack) frame;
                ByteBuffer out = allocate(24).putInt((int) nack.subscription()).putInt((int) nack.epoch());
                out.putLong(nack.number()).putShort((short) nack.piece()).putShort((short) 0);
                yield out.putInt(nack.crc()).flip();
            }
            case EPOCH_END -> {
                EpochEnd end = (EpochEnd) frame;
                ByteBuffer out = allocate(24).putInt((int) end.subscription()).putInt((int) end.epoch());
                yield out.putLong(end.batches()).putLong(end.rows()).flip();
            }
            case PING -> eight(((Ping) frame).opaque());
            case PONG -> eight(((Pong) frame).opaque());
            case BYE -> allocate(0);
            case ERROR -> ByteBuffer.wrap(FrameJson.of((ErrorMessage) frame));
            case LANE_MAP -> ByteBuffer.wrap(FrameJson.of((LaneMap) frame));
            case FILE -> file((FileAnnouncement) frame);
            case BATCH_REF -> ((BatchRef) frame).body();
            case RELEASE -> eight(((Release) frame).references());
            case STATS -> ByteBuffer.wrap(StatsJson.of((Stats) frame));
            case DELAY -> delay((Delay) frame);
            case SELECT -> {
                Select select = (Select) frame;
                yield select.body(allocate(select.bodyBytes()));
            }
            case SELECTED -> {
                Selected selected = (Selected) frame;
                yield allocate(16)
                        .putLong(selected.largestBatchBytes())
                        .putLong(selected.viewTag())
                        .flip();
            }
            case GET -> ((GetSamples) frame).body();
            case SAMPLES -> ((Samples) frame).body();
            case LIST -> ((ListSamples) frame).body();
            case ENTRIES -> ((Entries) frame).body();
        };
    }

    private static ByteBuffer hello(Hello hello) {
        byte[] json = FrameJson.of(hello);
        ByteBuffer out = allocate(HELLO_FIXED + json.length);
        return out.putInt(Protocol.MAGIC)
                .putShort((short) Protocol.VERSION)
                .putShort((short) 0)
                .put(json)
                .flip();
    }

    private static ByteBuffer subscribe(Subscribe subscribe) {
        ByteBuffer out = allocate(SUBSCRIBE_FIXED + 2 * subscribe.lanes().size());
        out.putInt((int) subscribe.subscription()).putInt((int) subscribe.epoch());
        out.putLong(subscribe.first()).putInt((int) subscribe.stride()).putLong(subscribe.count());
        out.put((byte) subscribe.tail().code()).put((byte) (subscribe.emptyShare() ? EMPTY_SHARE : 0));
        out.putShort((short) subscribe.lanes().size()).putLong(subscribe.begin());
        subscribe.lanes().forEach(lane -> out.putShort((short) (int) lane));
        return out.flip();
    }

    private static ByteBuffer delay(Delay delay) {
        ByteBuffer out = allocate(32).putInt((int) delay.subscription()).putInt((int) delay.epoch());
        out.putLong(delay.number()).putShort((short) delay.piece()).putShort((short) 0);
        return out.putInt((int) delay.originUs())
                .putInt((int) delay.diskUs())
                .putInt((int) delay.feederUs())
                .flip();
    }

    private static ByteBuffer batch(Batch batch) {
        ByteBuffer out = allocate(BatchHeader.BYTES + batch.header().messageBytes());
        batch.header().put(out);
        return out.put(batch.message()).flip().position(Protocol.PREFIX_BYTES);
    }

    private static ByteBuffer file(FileAnnouncement file) {
        byte[] path = file.path().getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = allocate(FileAnnouncement.FIXED + path.length)
                .putInt((int) file.file())
                .putInt(path.length);
        return out.putLong(file.device())
                .putLong(file.inode())
                .putLong(file.length())
                .put(path)
                .flip();
    }

    private static ByteBuffer eight(long value) {
        return allocate(8).putLong(value).flip();
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Decodes a frame from its body.
     *
     * @param body between position and limit; the frame copies its content, except the message of a BATCH
     */
    public static Frame decode(FrameType type, int flags, ByteBuffer body) throws ProtocolException {
        body.order(ByteOrder.LITTLE_ENDIAN);
        try {
            return switch (type) {
                case HELLO -> decodeHello(body);
                case WELCOME -> FrameJson.welcome(JsonObject.read(type, body));
                case SUBSCRIBE -> decodeSubscribe(body);
                case GRANT -> {
                    long subscription = u32(body);
                    zero(type, body.getInt());
                    yield new Grant(subscription, body.getLong());
                }
                case BATCH -> new Batch(BatchHeader.read(flags, body), body.slice());
                case ACK -> decodeAck(body);
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
                case ERROR -> FrameJson.error(JsonObject.read(type, body));
                case FILE -> decodeFile(body);
                case BATCH_REF -> BatchRef.read(flags, body);
                case RELEASE -> new Release(body.getLong());
                case LANE_MAP -> FrameJson.laneMap(JsonObject.read(type, body));
                case STATS -> StatsJson.stats(JsonObject.read(type, body));
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

    /**
     * Checks magic and version of a HELLO, which stay in their places in every version. A HELLO of another version may
     * end with something else than a checksum.
     */
    static void checkVersion(ByteBuffer body) throws ProtocolException {
        body.order(ByteOrder.LITTLE_ENDIAN);
        int magic = body.getInt(body.position());
        if (magic != Protocol.MAGIC) {
            throw ProtocolException.badFrame("HELLO: expected the letters STKR, found " + String.format("%08x", magic)
                    + ": the peer is no Stoker client");
        }
        int version = Short.toUnsignedInt(body.getShort(body.position() + Integer.BYTES));
        if (version != Protocol.VERSION) {
            throw new ProtocolException(
                    ErrorCode.UNSUPPORTED_PROTOCOL,
                    "the client speaks protocol " + version + ", this server " + Protocol.VERSION + ": update the "
                            + (version > Protocol.VERSION ? "server" : "client"));
        }
    }

    private static Hello decodeHello(ByteBuffer body) throws ProtocolException {
        body.position(body.position() + Integer.BYTES + Short.BYTES);
        zero(FrameType.HELLO, body.getShort());
        return FrameJson.hello(JsonObject.read(FrameType.HELLO, body));
    }

    private static FileAnnouncement decodeFile(ByteBuffer body) throws ProtocolException {
        long file = u32(body);
        long pathBytes = u32(body);
        long device = body.getLong();
        long inode = body.getLong();
        long length = body.getLong();
        try {
            if (body.remaining() != pathBytes) {
                throw ProtocolException.badFrame(
                        "FILE: " + body.remaining() + " bytes left for a path of " + pathBytes);
            }
            String path = StandardCharsets.UTF_8.newDecoder().decode(body).toString();
            return new FileAnnouncement(file, device, inode, length, path);
        } catch (CharacterCodingException e) {
            throw new ProtocolException(ErrorCode.BAD_FRAME, "FILE: the path is not UTF-8", e);
        }
    }

    private static Subscribe decodeSubscribe(ByteBuffer body) throws ProtocolException {
        long subscription = u32(body);
        long epoch = u32(body);
        long first = body.getLong();
        long stride = u32(body);
        long count = body.getLong();
        int code = Byte.toUnsignedInt(body.get());
        TailPolicy tail = TailPolicy.byCode(code)
                .orElseThrow(() -> ProtocolException.badFrame("SUBSCRIBE: tail is " + code + ": expected 0, 1 or 2"));
        int flags = Byte.toUnsignedInt(body.get());
        zero(FrameType.SUBSCRIBE, flags & ~EMPTY_SHARE);
        int lanes = u16(body);
        long begin = body.getLong();
        if (body.remaining() != 2 * lanes) {
            throw ProtocolException.badFrame("SUBSCRIBE: " + body.remaining() + " bytes left for " + lanes + " lanes");
        }
        List<Integer> list = new ArrayList<>(lanes);
        for (int i = 0; i < lanes; i++) {
            list.add(u16(body));
        }
        return new Subscribe(subscription, epoch, first, stride, count, tail, list, flags == EMPTY_SHARE, begin);
    }

    private static Ack decodeAck(ByteBuffer body) throws ProtocolException {
        long subscription = u32(body);
        long epoch = u32(body);
        long count = u32(body);
        zero(FrameType.ACK, body.getInt());
        if (body.remaining() != count * AckEntry.BYTES) {
            throw ProtocolException.badFrame("ACK: " + body.remaining() + " bytes left for " + count + " entries");
        }
        byte[] entries = new byte[body.remaining()];
        body.get(entries);
        return new Ack(subscription, epoch, entries);
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
}

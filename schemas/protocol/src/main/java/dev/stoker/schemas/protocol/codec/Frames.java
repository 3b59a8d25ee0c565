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
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Encodes frames.
 *
 * <pre>
 * 0 u32 length (bytes after this field)    4 u8 type    5 u8 flags    6 u16 0    8 body    u32 CRC-32C from byte 4 on
 * </pre>
 *
 * BATCH and BATCH_REF have their checksum in the header and none at the end.
 */
public final class Frames {
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
            case HELLO -> ((Hello) frame).body();
            case WELCOME -> ((Welcome) frame).body();
            case SUBSCRIBE -> ((Subscribe) frame).body();
            case GRANT -> {
                Grant grant = (Grant) frame;
                yield allocate(16)
                        .putInt((int) grant.subscription())
                        .putInt(0)
                        .putLong(grant.through())
                        .flip();
            }
            case BATCH -> batch((Batch) frame);
            case ACK -> ((Ack) frame).body();
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
            case ERROR -> ((ErrorMessage) frame).body();
            case LANE_MAP -> ((LaneMap) frame).body();
            case FILE -> ((FileAnnouncement) frame).body();
            case BATCH_REF -> ((BatchRef) frame).body();
            case RELEASE -> eight(((Release) frame).references());
            case STATS -> ((Stats) frame).body();
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

    private static ByteBuffer eight(long value) {
        return allocate(8).putLong(value).flip();
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}

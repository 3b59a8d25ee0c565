package dev.stoker.schemas.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Lists the types of frames, with their senders and the limits of their bodies: the bytes after the first eight and
 * before the checksum.
 */
public enum FrameType {
    HELLO(1, Sender.CLIENT, 8, Integer.MAX_VALUE),
    WELCOME(2, Sender.SERVER, 0, Integer.MAX_VALUE),
    SUBSCRIBE(3, Sender.CLIENT, 40, 40 + 2 * 65_535),
    GRANT(4, Sender.CLIENT, 16, 16),
    BATCH(5, Sender.SERVER, BatchHeader.BYTES - Protocol.PREFIX_BYTES, Integer.MAX_VALUE),
    ACK(6, Sender.CLIENT, 16, Integer.MAX_VALUE),
    DURABLE(7, Sender.SERVER, 8, 8),
    NACK(8, Sender.CLIENT, 24, 24),
    EPOCH_END(9, Sender.SERVER, 24, 24),
    PING(10, Sender.BOTH, 8, 8),
    PONG(11, Sender.BOTH, 8, 8),
    BYE(12, Sender.BOTH, 0, 0),
    ERROR(13, Sender.BOTH, 0, Integer.MAX_VALUE),
    LANE_MAP(14, Sender.SERVER, 0, Integer.MAX_VALUE),
    FILE(15, Sender.SERVER, FileAnnouncement.FIXED + 1, FileAnnouncement.FIXED + 3 * FileAnnouncement.MAX_PATH),
    BATCH_REF(16, Sender.SERVER, BatchRef.HEADER_BYTES - Protocol.PREFIX_BYTES, Integer.MAX_VALUE),
    RELEASE(17, Sender.CLIENT, 8, 8),
    STATS(20, Sender.CLIENT, 0, Integer.MAX_VALUE),
    DELAY(21, Sender.SERVER, 32, 32),
    SELECT(22, Sender.CLIENT, Select.FIXED + 1, Integer.MAX_VALUE),
    SELECTED(23, Sender.SERVER, 16, 16),
    GET(24, Sender.CLIENT, GetSamples.FIXED + Integer.BYTES, Integer.MAX_VALUE),
    SAMPLES(25, Sender.SERVER, Samples.FIXED, Integer.MAX_VALUE),
    LIST(26, Sender.CLIENT, ListSamples.FIXED, Integer.MAX_VALUE),
    ENTRIES(27, Sender.SERVER, Entries.FIXED, Integer.MAX_VALUE);

    public enum Sender {
        CLIENT,
        SERVER,
        BOTH
    }

    private static final FrameType[] BY_CODE = new FrameType[28];

    static {
        for (FrameType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;
    private final Sender sender;
    private final int leastBody;
    private final int greatestBody;

    FrameType(int code, Sender sender, int leastBody, int greatestBody) {
        this.code = code;
        this.sender = sender;
        this.leastBody = leastBody;
        this.greatestBody = greatestBody;
    }

    /** Returns the byte that identifies the type. */
    public int code() {
        return code;
    }

    /** Returns the bytes of the checksum at the frame's end. A BATCH and a BATCH_REF have theirs in the header. */
    public int checksumBytes() {
        return this == BATCH || this == BATCH_REF ? 0 : Protocol.CHECKSUM_BYTES;
    }

    public boolean isSentBy(Sender side) {
        return sender == side || sender == Sender.BOTH;
    }

    public boolean allowsBody(long bytes) {
        return bytes >= leastBody && bytes <= greatestBody;
    }

    /** Returns the type with this code, or null. */
    public static @Nullable FrameType byCode(int code) {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}

package dev.stoker.schemas.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Contains the constants of feed protocol 1. */
public final class Protocol {
    /** The version that HELLO asks for and WELCOME confirms. */
    public static final int VERSION = 1;

    public static final int DEFAULT_PORT = 7420;

    /** {@code STKR} read as a little-endian number. */
    public static final int MAGIC = 0x524B5453;

    /** Greatest value of a frame's length field from a client before WELCOME. */
    public static final int MAX_BEFORE_WELCOME = 16 << 10;

    /** Greatest value of a frame's length field from a client. */
    public static final int MAX_FROM_CLIENT = 1 << 20;

    /** Greatest value of a frame's length field from a server, except BATCH and SAMPLES. */
    public static final int MAX_FROM_SERVER = 64 << 20;

    /** Greatest value of the length field of a BATCH or SAMPLES frame. */
    public static final int MAX_BATCH = Integer.MAX_VALUE;

    /** Number of entries at which a client sends an ACK frame without waiting for more. */
    public static final int ACK_ENTRIES = 256;

    /** Time after which a client sends an ACK frame with the available entries. */
    public static final int ACK_DELAY_MS = 50;

    /** Length field, type, flags, reserved. */
    public static final int PREFIX_BYTES = 8;

    public static final int LENGTH_BYTES = 4;

    /** CRC-32C at the end of a frame. */
    public static final int CHECKSUM_BYTES = 4;

    private Protocol() {}

    /** The version of a probe: a HELLO that only tests whether a server answers. No protocol will have this version. */
    public static final int NO_VERSION = 0xFFFF;

    private static final int AT_TYPE = 4;
    private static final int AT_MAGIC = 8;
    private static final int AT_VERSION = 12;

    /** Returns whether a connection is a probe, from its first bytes. */
    public static boolean isProbe(ByteBuffer first) {
        ByteBuffer bytes = first.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int at = bytes.position();
        return bytes.remaining() >= AT_VERSION + Short.BYTES
                && bytes.get(at + AT_TYPE) == FrameType.HELLO.code()
                && bytes.getInt(at + AT_MAGIC) == MAGIC
                && Short.toUnsignedInt(bytes.getShort(at + AT_VERSION)) == NO_VERSION;
    }
}

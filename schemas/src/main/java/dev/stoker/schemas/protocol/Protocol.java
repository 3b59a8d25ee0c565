package dev.stoker.schemas.protocol;

/** Constants of feed protocol 1. */
public final class Protocol {
    /** The version that HELLO asks for and WELCOME confirms. */
    public static final int VERSION = 1;

    public static final int DEFAULT_PORT = 7420;

    /** {@code STKR} read as a little-endian number. */
    public static final int MAGIC = 0x524B5453;

    /** Greatest value of a frame's length field from a client that was not welcomed yet. */
    public static final int MAX_BEFORE_WELCOME = 16 << 10;

    /** Greatest value of a frame's length field from a client. */
    public static final int MAX_FROM_CLIENT = 1 << 20;

    /** Greatest value of a frame's length field from a server, BATCH excepted. */
    public static final int MAX_FROM_SERVER = 64 << 20;

    /** Greatest value of a BATCH frame's length field. */
    public static final int MAX_BATCH = Integer.MAX_VALUE;

    /** Entries after which a client sends an ACK frame without waiting for more. */
    public static final int ACK_ENTRIES = 256;

    /** Time after which a client sends an ACK frame with what it has. */
    public static final int ACK_DELAY_MS = 50;

    /** Length field, type, flags, reserved. */
    static final int PREFIX_BYTES = 8;

    static final int LENGTH_BYTES = 4;

    private Protocol() {}
}

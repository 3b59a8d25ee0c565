package dev.stoker.schemas.protocol.parts;

/** Checks the ranges of values in frames. */
public final class Fields {
    private static final long U32 = 0xFFFF_FFFFL;
    private static final int U16 = 0xFFFF;

    private Fields() {}

    public static void u32(String name, long value) {
        range(name, value, U32, "2^32-1");
    }

    public static void u16(String name, int value) {
        range(name, value, U16, "65535");
    }

    public static void natural(String name, long value) {
        range(name, value, Long.MAX_VALUE, "2^63-1");
    }

    /**
     * Checks that a text has 1 to {@code most} characters, without control characters, and that UTF-8 can encode it.
     */
    public static void name(String key, String text, int most) {
        boolean isText = text.codePoints().noneMatch(c -> Character.isISOControl(c) || isSurrogate(c));
        if (text.isEmpty() || text.length() > most || !isText) {
            throw new IllegalArgumentException(
                    key + ": expected 1 to " + most + " characters without control characters or half surrogates");
        }
    }

    /**
     * Returns whether this is an unpaired surrogate. UTF-8 cannot encode it, so two such names would be one name in the
     * ledger.
     */
    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    private static void range(String name, long value, long greatest, String shown) {
        if (value < 0 || value > greatest) {
            throw new IllegalArgumentException(
                    name + " is " + Long.toUnsignedString(value) + ": expected 0 … " + shown);
        }
    }
}

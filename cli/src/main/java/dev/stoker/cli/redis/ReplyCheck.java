package dev.stoker.cli.redis;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Checks the replies of a server while the client reads them, in both versions of its protocol. The client allocates
 * what a reply declares, and reads nested replies by recursion. So a reply is refused by its declared lengths, before
 * the client sees them. For one thread.
 */
final class ReplyCheck extends FilterInputStream {
    /** The longest value. A place has at most 28 bytes, but something else may have the name of a sample. */
    static final int MAX_VALUE = 64 << 10;

    /** The most bytes of one reply. */
    static final int MAX_REPLY = 4 << 20;

    /** The most items of one list; one reply has at most {@link RedisAddresses#TOGETHER} values. */
    static final int MAX_ITEMS = 4096;

    private static final int MAX_DEPTH = 4;

    /** Items that are missing of each open list, outermost first. */
    private final long[] missing = new long[MAX_DEPTH];

    private int depth;
    /** Bytes of the present reply. */
    private long bytes;
    /** Bytes that are missing of the present value, with its line end. */
    private long value;
    /** The first byte of the present line; 0 at its beginning. */
    private char type;

    private long number;
    private boolean isNegative;

    ReplyCheck(InputStream in) {
        super(in);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        int count = super.read(target, offset, length);
        for (int i = 0; i < count; i++) {
            check((char) (target[offset + i] & 0xff));
        }
        return count;
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    private void check(char next) throws IOException {
        bytes++;
        if (bytes > MAX_REPLY) {
            throw refused("a reply of more than " + MAX_REPLY + " bytes");
        }
        if (value > 0) {
            value--;
            if (value == 0) {
                complete();
            }
        } else if (type == 0) {
            type = next;
            number = 0;
            isNegative = false;
        } else if (next == '\n') {
            line();
            type = 0;
        } else if (next == '-') {
            isNegative = true;
        } else if (next >= '0' && next <= '9') {
            number = Math.min(number * 10 + next - '0', Integer.MAX_VALUE);
        }
    }

    /** Takes a whole line. */
    private void line() throws IOException {
        switch (type) {
            case '$', '=', '!' -> {
                if (isNegative) {
                    complete();
                } else if (number > MAX_VALUE) {
                    throw refused("a value of " + number + " bytes");
                } else {
                    value = number + 2;
                }
            }
            case '*', '~', '>', '%' -> open(type == '%' ? 2 * number : number);
            case '+', '-', ':', ',', '#', '_', '(' -> complete();
            default -> throw refused("a reply that begins with the byte " + (int) type);
        }
    }

    private void open(long items) throws IOException {
        if (isNegative || items == 0) {
            complete();
        } else if (items > MAX_ITEMS) {
            throw refused("a list of " + items + " items");
        } else if (depth == MAX_DEPTH) {
            throw refused("lists within lists");
        } else {
            missing[depth] = items;
            depth++;
        }
    }

    /** Takes a whole item, and with it the lists that it ends. */
    private void complete() {
        while (depth > 0) {
            missing[depth - 1]--;
            if (missing[depth - 1] > 0) {
                return;
            }
            depth--;
        }
        bytes = 0;
    }

    private static IOException refused(String what) {
        return new IOException("the server sent " + what + ", which no place is");
    }
}

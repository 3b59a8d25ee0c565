package dev.stoker.schemas.values;

import java.nio.ByteBuffer;

/** Checks whether bytes, which may arrive in parts, are well-formed UTF-8 (Unicode 15, table 3-7). Not thread-safe. */
public final class Utf8Check {
    private static final long NOT_ASCII = 0x8080808080808080L;

    /** Expected number of continuation bytes, or -1 after an invalid byte. */
    private int pending;
    /** Range of the next continuation byte. */
    private int least;

    private int greatest;

    /** Returns whether the bytes between position and limit are well-formed. Does not change the buffer. */
    public static boolean isValid(ByteBuffer bytes) {
        Utf8Check check = new Utf8Check();
        check.update(bytes);
        return check.isComplete();
    }

    /** Begins with other bytes. */
    public void reset() {
        pending = 0;
    }

    /** Returns whether the bytes so far are well-formed and end with a whole character. */
    public boolean isComplete() {
        return pending == 0;
    }

    /** Checks the bytes between position and limit. Does not change the buffer. */
    public void update(ByteBuffer bytes) {
        int end = bytes.limit();
        int at = bytes.position();
        while (at < end && pending >= 0) {
            if (pending == 0) {
                while (at + 8 <= end && (bytes.getLong(at) & NOT_ASCII) == 0) {
                    at += 8;
                }
            }
            if (at < end) {
                next(bytes.get(at++) & 0xFF);
            }
        }
    }

    private void next(int b) {
        if (pending > 0) {
            pending = b < least || b > greatest ? -1 : pending - 1;
            least = 0x80;
            greatest = 0xBF;
            return;
        }
        if (b < 0x80) {
            return;
        }
        least = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
        greatest = b == 0xED ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
        if (b >= 0xC2 && b <= 0xDF) {
            pending = 1;
        } else if (b >= 0xE0 && b <= 0xEF) {
            pending = 2;
        } else if (b >= 0xF0 && b <= 0xF4) {
            pending = 3;
        } else {
            pending = -1;
        }
    }
}

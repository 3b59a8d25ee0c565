package dev.stoker.schemas.log;

import java.util.Comparator;

/** Orders class names by code point, like their UTF-8 bytes and like Python's {@code sorted}. */
public enum ClassOrder implements Comparator<String> {
    /** The only instance. */
    INSTANCE;

    @Override
    public int compare(String left, String right) {
        int length = Math.min(left.length(), right.length());
        for (int i = 0; i < length; i++) {
            char a = left.charAt(i);
            char b = right.charAt(i);
            if (a != b) {
                // Surrogates encode code points above all code points that have one unit.
                boolean aHigh = Character.isSurrogate(a);
                boolean bHigh = Character.isSurrogate(b);
                return aHigh == bHigh ? Character.compare(a, b) : Boolean.compare(aHigh, bHigh);
            }
        }
        return Integer.compare(left.length(), right.length());
    }
}

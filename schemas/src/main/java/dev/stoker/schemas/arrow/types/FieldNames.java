package dev.stoker.schemas.arrow.types;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/** Checks the names of fields: 1 to 255 bytes of UTF-8 without control characters, and not reserved. */
final class FieldNames {
    private static final int MAX_BYTES = 255;

    /** Characters of a long name that a message shows. */
    private static final int SHOWN = 40;

    private static final Pattern RESERVED =
            Pattern.compile("key|crc32c:.*|segment_[^:]*:.*|stoker\\..*", Pattern.DOTALL);
    private static final String RULE = "; use 1 to 255 bytes of UTF-8 without control characters";

    private FieldNames() {}

    /** Throws IllegalArgumentException if a field must not have this name. */
    static void check(String name) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a field name is empty" + RULE);
        }
        String shown = shown(name);
        if (!shown.equals(name)) {
            throw new IllegalArgumentException(
                    "field name '" + shown + "' has a control character or half a surrogate pair" + RULE);
        }
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            String start = name.substring(0, name.offsetByCodePoints(0, SHOWN));
            throw new IllegalArgumentException(
                    "field name '" + start + "…' has " + bytes + " bytes of UTF-8; use at most " + MAX_BYTES);
        }
        if (RESERVED.matcher(name).matches()) {
            throw new IllegalArgumentException("field name '" + name
                    + "' is reserved; choose another than 'key', 'crc32c:*', 'segment_*:*' and 'stoker.*'");
        }
    }

    /** Returns the name with each character that is not allowed as a number. */
    private static String shown(String name) {
        StringBuilder shown = new StringBuilder();
        name.codePoints().forEach(c -> {
            if (Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE) {
                shown.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                shown.appendCodePoint(c);
            }
        });
        return shown.toString();
    }
}

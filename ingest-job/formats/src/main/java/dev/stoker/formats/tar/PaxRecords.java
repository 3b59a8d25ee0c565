package dev.stoker.formats.tar;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the records of a pax header: {@code "<length> <key>=<value>\n"}, one after the other. */
final class PaxRecords {
    private PaxRecords() {}

    /** Returns the values by key, or null if the records are damaged. */
    static @Nullable Map<String, byte[]> parse(byte[] bytes) {
        Map<String, byte[]> values = new HashMap<>();
        int at = 0;
        while (at < bytes.length) {
            int space = at;
            long length = 0;
            while (space < bytes.length && bytes[space] >= '0' && bytes[space] <= '9' && length < bytes.length) {
                length = 10 * length + bytes[space++] - '0';
            }
            int end = (int) Math.min(bytes.length + 1L, at + length);
            if (space == at || space >= bytes.length || bytes[space] != ' ' || end > bytes.length || end <= space) {
                return null;
            }
            int equals = space + 1;
            while (equals < end && bytes[equals] != '=') {
                equals++;
            }
            if (equals >= end - 1 || bytes[end - 1] != '\n') {
                return null;
            }
            String key = new String(bytes, space + 1, equals - space - 1, StandardCharsets.UTF_8);
            values.put(key, Arrays.copyOfRange(bytes, equals + 1, end - 1));
            at = end;
        }
        return values;
    }
}

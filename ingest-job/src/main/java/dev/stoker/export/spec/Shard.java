package dev.stoker.export.spec;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A file to write: a range of the order of one split.
 *
 * @param split the split; empty if the version has no samples
 * @param index number of the shard within the split
 * @param count number of shards of the split
 * @param firstRow first position in the order
 * @param rows number of samples
 */
public record Shard(String split, int index, int count, long firstRow, long rows) implements Serializable {
    private static final long serialVersionUID = 1;
    private static final String PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    /** Returns the name of the file. */
    public String name(String ending) {
        String prefix = split.isEmpty() ? "data" : safe(split);
        return String.format(Locale.ROOT, "%s-%05d-of-%05d%s", prefix, index, count, ending);
    }

    /** Returns a split's name as a part of file names: other characters as percent and two digits. */
    public static String safe(String split) {
        StringBuilder name = new StringBuilder();
        for (byte b : split.getBytes(StandardCharsets.UTF_8)) {
            boolean isPlain = PLAIN.indexOf(b) >= 0;
            boolean isInnerDot = b == '.' && name.length() > 0;
            if (isPlain || isInnerDot) {
                name.append((char) b);
            } else {
                name.append(String.format(Locale.ROOT, "%%%02X", b));
            }
        }
        return name.toString();
    }
}

package dev.stoker.formats.partition;

import dev.stoker.formats.values.Numbers;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Finds columns in the directories of a path, which are written as {@code name=value}. */
public final class PartitionPath {
    /** The value that stands for null. */
    public static final String NULL = "__HIVE_DEFAULT_PARTITION__";

    private PartitionPath() {}

    /**
     * Returns the columns of a path in their order, with their values as text; empty for null. Names and values are
     * URL-decoded.
     *
     * @param path of a file, with {@code /} between its parts; the last part, the file's name, gives no column
     * @throws IllegalArgumentException if a name occurs twice, or a name or value is not UTF-8
     */
    public static Map<String, Optional<String>> parse(String path) {
        Map<String, Optional<String>> columns = new LinkedHashMap<>();
        for (int from = 0, slash = path.indexOf('/'); slash >= 0; from = slash + 1, slash = path.indexOf('/', from)) {
            int equals = path.indexOf('=', from);
            if (equals > from && equals < slash) {
                String name = decode(path.substring(from, equals));
                String value = path.substring(equals + 1, slash);
                Optional<String> decoded = value.equals(NULL) ? Optional.empty() : Optional.of(decode(value));
                if (columns.put(name, decoded) != null) {
                    throw new IllegalArgumentException(
                            "two directories of " + path + " have the name " + name + "; rename one of them");
                }
            }
        }
        return columns;
    }

    /**
     * Returns int64 if all values are integers, otherwise utf8. As in CSV, a number with leading zeros is a code and no
     * integer.
     */
    public static FieldType type(Collection<Optional<String>> values) {
        boolean isInteger = values.stream().anyMatch(Optional::isPresent)
                && values.stream().allMatch(value -> value.isEmpty() || Numbers.isInt64(value.get()));
        return isInteger ? ScalarType.INT64 : ScalarType.UTF8;
    }

    /** Decodes {@code %20}, but not {@code +}, which Hive and Spark write for itself. */
    private static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int at = 0;
        while (at < text.length()) {
            int high = at + 2 < text.length() && text.charAt(at) == '%' ? Character.digit(text.charAt(at + 1), 16) : -1;
            int low = high >= 0 ? Character.digit(text.charAt(at + 2), 16) : -1;
            if (low >= 0) {
                bytes.write(high << 4 | low);
                at += 3;
            } else {
                int end = text.offsetByCodePoints(at, 1);
                bytes.writeBytes(text.substring(at, end).getBytes(StandardCharsets.UTF_8));
                at = end;
            }
        }
        String decoded = Utf8.decodeOrNull(ByteBuffer.wrap(bytes.toByteArray()));
        if (decoded == null) {
            throw new IllegalArgumentException("the directory " + text + " is not UTF-8; rename it");
        }
        return decoded;
    }
}

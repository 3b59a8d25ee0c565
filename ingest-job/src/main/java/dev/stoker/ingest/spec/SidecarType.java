package dev.stoker.ingest.spec;

import java.util.List;

/** The types that a sidecar's bytes can be converted to. */
public final class SidecarType {

    private static final List<String> BYTES = List.of("utf8", "binary");
    private static final List<String> NUMBERS = List.of(
            "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64");
    private static final String CATEGORICAL = "categorical";

    private SidecarType() {}

    /** Whether a value of this type can be read from bytes. */
    public static boolean isKnown(String type) {
        return BYTES.contains(type) || NUMBERS.contains(type) || type.equals(CATEGORICAL);
    }

    /** Whether a value consists of the file's unchanged bytes. */
    public static boolean isBytes(String type) {
        return BYTES.contains(type);
    }

    /** All types, for messages. */
    public static String names() {
        return String.join(", ", BYTES) + ", " + CATEGORICAL + ", " + String.join(", ", NUMBERS);
    }
}

package dev.stoker.schemas.kafka;

import java.util.Optional;

/** Lists the formats of a topic's batch records. */
public enum ValueFormat {
    /** A piece of a batch, or a part of one, as an Arrow stream: {@link RecordValue}. */
    ARROW("arrow", 1),
    /** A sample: {@link SampleValue}. A piece has as many parts as rows. */
    AVRO("avro", 2);

    private final String text;
    private final int version;

    ValueFormat(String text, int version) {
        this.text = text;
        this.version = version;
    }

    /** Its name in options and descriptions. */
    public String text() {
        return text;
    }

    /** Returns the value of the header {@code stoker.format}. */
    public int version() {
        return version;
    }

    /** Returns the format of this name. */
    public static Optional<ValueFormat> named(String text) {
        for (ValueFormat format : values()) {
            if (format.text.equals(text)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    static Optional<ValueFormat> ofVersion(String version) {
        for (ValueFormat format : values()) {
            if (Integer.toString(format.version).equals(version)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }
}

package dev.stoker.metadata.files;

import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.table.ChunkTable;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The field whose values are the contents of the samples: a payload field, bytes or text. Immutable. */
public final class ContentField {

    private final int index;
    private final Field field;
    /** Bytes of all other values of a sample as the sample index counts them; -1 if samples differ in them. */
    private final long otherBytes;

    private ContentField(List<Field> fields, int index) {
        this.index = index;
        this.field = fields.get(index);
        long bytes = 0;
        for (int f = 0; f < fields.size() && bytes >= 0; f++) {
            FieldType type = fields.get(f).type();
            if (f != index) {
                bytes = type.hasOffsets() || fields.get(f).payload()
                        ? -1
                        : bytes + (type.layout() == FieldType.Layout.BITS ? 1 : type.width());
            }
        }
        this.otherBytes = field.payload() ? bytes : -1;
    }

    /**
     * Chooses the field with a name, or else the only payload field, or else the only field of bytes or text.
     *
     * @param dataset the dataset, for messages
     * @param name null for the usual field
     * @param option the option or setting that names the field, for messages
     * @throws IllegalArgumentException if there is no such field, or more than one
     */
    public static ContentField choose(String dataset, List<Field> fields, @Nullable String name, String option) {
        List<String> payload = names(fields, Field::payload);
        List<String> known = names(fields, ContentField::hasBytes);
        List<String> usual = payload.isEmpty() ? known : payload;
        if (known.isEmpty()) {
            throw new IllegalArgumentException(
                    dataset + " has no field of bytes or text, so its samples have no content; stoker get --json prints"
                            + " its fields " + String.join(", ", names(fields, field -> true)));
        }
        if (name == null && usual.size() > 1) {
            throw new IllegalArgumentException(dataset + " has several fields of bytes or text; choose one of "
                    + String.join(", ", known) + " with " + option);
        }
        String wanted = name == null ? usual.get(0) : name;
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(wanted) && hasBytes(fields.get(f))) {
                return new ContentField(fields, f);
            }
        }
        throw new IllegalArgumentException(dataset + " has no field " + wanted + " of bytes or text; choose "
                + (known.size() == 1 ? "" : "one of ") + String.join(", ", known) + " with " + option
                + "; stoker get --json prints the other fields");
    }

    private static List<String> names(List<Field> fields, Predicate<Field> which) {
        return fields.stream().filter(which).map(Field::name).toList();
    }

    /** Returns whether a field can be the content: whether it is payload, bytes or text. */
    public static boolean hasBytes(Field field) {
        return field.payload() || field.type() == ScalarType.BINARY || field.type() == ScalarType.UTF8;
    }

    /** Returns the index of the field in the dataset. */
    public int index() {
        return index;
    }

    /** Returns the name of the field. */
    public String name() {
        return field.name();
    }

    /** Returns whether the contents are payload. */
    public boolean isPayload() {
        return field.payload();
    }

    /**
     * Returns the length of the contents of a sample if it follows from the sample index, so that no chunk is read for
     * it. The index then has the checksum of the contents, too.
     *
     * @param version the chunks of the version, which may have fields that dataset.json lacks: the index counts them in
     *     the chunks that store them
     */
    public OptionalLong length(SampleStat sample, ChunkTable version) {
        return otherBytes < 0 || !version.added().isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Integer.toUnsignedLong(sample.length()) - otherBytes);
    }
}

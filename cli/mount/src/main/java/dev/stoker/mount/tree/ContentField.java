package dev.stoker.mount.tree;

import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The field whose bytes are the content of the files. As in {@code stoker get}: payload, or else bytes or text. */
final class ContentField {

    private final int index;
    private final Field field;
    /** Bytes of all other fields of each sample; -1 if samples differ. */
    private final long otherBytes;

    private ContentField(List<Field> fields, int index) {
        this.index = index;
        this.field = fields.get(index);
        long bytes = 0;
        for (int f = 0; f < fields.size() && bytes >= 0; f++) {
            if (f != index) {
                FieldType type = fields.get(f).type();
                bytes = type.hasOffsets() ? -1 : bytes + (type.layout() == FieldType.Layout.BITS ? 1 : type.width());
            }
        }
        this.otherBytes = bytes;
    }

    /**
     * Chooses the field.
     *
     * @param dataset the dataset, for messages
     * @param wanted the name of the field; null for the only one that can be content
     * @throws IllegalArgumentException if there is no such field, or more than one
     */
    static ContentField of(String dataset, List<Field> fields, @Nullable String wanted) {
        List<String> payload = names(fields, Field::payload);
        List<String> known = names(fields, ContentField::hasBytes);
        List<String> usual = payload.isEmpty() ? known : payload;
        if (wanted == null && usual.size() != 1) {
            throw new IllegalArgumentException(
                    usual.isEmpty()
                            ? dataset + " has no field of bytes or text, so it has no content for files"
                            : "choose one of the fields " + String.join(", ", usual) + " of " + dataset
                                    + " with --field: a file has the bytes of one field");
        }
        String name = wanted == null ? usual.get(0) : wanted;
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name) && hasBytes(fields.get(f))) {
                return new ContentField(fields, f);
            }
        }
        throw new IllegalArgumentException(dataset + " has no field " + name + " of bytes or text"
                + (known.isEmpty() ? "" : "; it has " + String.join(", ", known)));
    }

    private static List<String> names(List<Field> fields, Predicate<Field> which) {
        return fields.stream().filter(which).map(Field::name).toList();
    }

    private static boolean hasBytes(Field field) {
        return field.payload() || field.type() == ScalarType.BINARY || field.type() == ScalarType.UTF8;
    }

    /** Returns the index of the field. */
    int index() {
        return index;
    }

    boolean isPayload() {
        return field.payload();
    }

    /** Returns the size of a file if it follows from the sample index, so that no chunk is read for it. */
    OptionalInt size(SampleStat stat) {
        return otherBytes < 0 || !field.payload()
                ? OptionalInt.empty()
                : OptionalInt.of(Math.toIntExact(Integer.toUnsignedLong(stat.length()) - otherBytes));
    }
}

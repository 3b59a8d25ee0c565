package dev.stoker.formats.arrow;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A field of an Arrow schema.
 *
 * @param type its type; for a column with a dictionary, the type of the dictionary's values
 * @param dictionary the encoding, or null if there is none
 * @param metadata its own metadata
 */
record ArrowNode(
        String name,
        boolean nullable,
        ArrowType type,
        List<ArrowNode> children,
        @Nullable DictionaryIndex dictionary,
        Map<String, String> metadata) {

    ArrowNode named(String newName) {
        return new ArrowNode(newName, nullable, type, children, dictionary, metadata);
    }

    ArrowNode withChildren(List<ArrowNode> newChildren) {
        return new ArrowNode(name, nullable, type, newChildren, dictionary, metadata);
    }

    /**
     * An encoding by a dictionary.
     *
     * @param id number of the dictionary
     * @param index the type of the indexes
     */
    record DictionaryIndex(long id, ArrowType index) {}

    /**
     * A type.
     *
     * @param id its number in {@link org.apache.arrow.flatbuf.Type}
     * @param width bytes of a value of fixed width, items of a list of fixed size; otherwise 0
     * @param signed whether an integer has a sign
     * @param unit the unit of dates and times as a letter or two
     * @param precision digits of a decimal
     * @param scale digits behind the point of a decimal
     * @param zone the zone of a timestamp, or null
     */
    record ArrowType(
            byte id,
            int width,
            boolean signed,
            String unit,
            int precision,
            int scale,
            @Nullable String zone) {
        static ArrowType of(byte id) {
            return new ArrowType(id, 0, false, "", 0, 0, null);
        }

        static ArrowType of(byte id, int width) {
            return new ArrowType(id, width, false, "", 0, 0, null);
        }
    }
}

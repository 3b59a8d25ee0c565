package dev.stoker.schemas.chunk;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.DictionaryBatch;
import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Assigns chunk-local ids to class names in order of first use, and reads the names of a chunk. Not thread-safe. */
public final class ClassNames {
    private static final int MAX_BYTES = 65_535;

    private final Map<String, Integer> ids = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private long nameBytes;
    private int marked;

    /**
     * Reads the names of a chunk's dictionary.
     *
     * @param dictionary one row for each name
     * @param rows rows of the chunk; each class has one, so there are not more names
     * @param file the chunk's name for messages
     */
    static List<String> read(ArrowColumn dictionary, int rows, String file) throws CorruptDataException {
        String what = dictionary.field().name();
        if (dictionary.rows() > rows) {
            throw CorruptDataException.mismatch(
                    file, "number of " + what, "at most " + rows + ", one for each row", dictionary.rows());
        }
        Set<String> names = new LinkedHashSet<>();
        for (int id = 0; id < dictionary.rows(); id++) {
            int length = dictionary.valueLength(id);
            if (length > MAX_BYTES) {
                throw CorruptDataException.mismatch(
                        file, what + ", length of name " + id, "at most " + MAX_BYTES + " bytes", length);
            }
            String name;
            try {
                name = StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(dictionary.bytesAt(id))
                        .toString();
            } catch (CharacterCodingException e) {
                throw CorruptDataException.mismatch(file, what + ", name " + id, "UTF-8", "other bytes");
            }
            if (!names.add(name)) {
                throw CorruptDataException.mismatch(
                        file, what + ", name " + id, "each name once", "'" + name + "' again");
            }
        }
        return List.copyOf(names);
    }

    int idOf(String name) {
        Integer id = ids.get(name);
        if (id == null) {
            nameBytes += checkedBytes(name);
            id = names.size();
            ids.put(name, id);
            names.add(name);
        }
        return id;
    }

    /** @throws IllegalArgumentException if a text cannot be the name of a class */
    public static void check(String name) {
        checkedBytes(name);
    }

    /**
     * Returns the bytes of a name in UTF-8. Rejects a name that a log entry cannot contain, while its sample is still
     * known.
     */
    private static int checkedBytes(String name) {
        int bytes;
        try {
            bytes = StandardCharsets.UTF_8
                    .newEncoder()
                    .encode(CharBuffer.wrap(name))
                    .remaining();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("the class name has half a surrogate pair, which UTF-8 cannot hold", e);
        }
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException("the class name has " + bytes + " bytes of UTF-8, at most " + MAX_BYTES
                    + " are allowed; is the field text rather than a class?");
        }
        return bytes;
    }

    void mark() {
        marked = names.size();
    }

    /** Removes the names that were added since {@link #mark}. */
    void rollBack() {
        while (names.size() > marked) {
            String name = names.remove(names.size() - 1);
            ids.remove(name);
            nameBytes -= checkedBytes(name);
        }
    }

    List<String> list() {
        return List.copyOf(names);
    }

    /** Returns the length of the dictionary batch with these names. */
    long dictionaryBytes() {
        return DictionaryBatch.length(names.size(), nameBytes);
    }

    void clear() {
        ids.clear();
        names.clear();
        nameBytes = 0;
        marked = 0;
    }
}

package dev.stoker.schemas.chunk;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Assigns chunk-local ids to class names, in order of first use. Not thread-safe. */
final class ClassNames {
    private static final int MAX_BYTES = 65_535;

    private final Map<String, Integer> ids = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private long jsonBytes;
    private int marked;

    int idOf(String name) {
        Integer id = ids.get(name);
        if (id == null) {
            check(name);
            id = names.size();
            ids.put(name, id);
            names.add(name);
            jsonBytes += jsonBytes(name);
        }
        return id;
    }

    /** Rejects a name that a log entry cannot contain, while its sample is still known. */
    private static void check(String name) {
        long bytes;
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
    }

    void mark() {
        marked = names.size();
    }

    /** Removes the names that were added since {@link #mark}. */
    void rollBack() {
        while (names.size() > marked) {
            String name = names.remove(names.size() - 1);
            ids.remove(name);
            jsonBytes -= jsonBytes(name);
        }
    }

    List<String> list() {
        return List.copyOf(names);
    }

    /** Returns the bytes of the names as a JSON array, including brackets. */
    long jsonBytes() {
        return jsonBytes + 2;
    }

    void clear() {
        ids.clear();
        names.clear();
        jsonBytes = 0;
        marked = 0;
    }

    private static long jsonBytes(String name) {
        return JsonText.array(List.of(name)).getBytes(StandardCharsets.UTF_8).length - 1L;
    }
}

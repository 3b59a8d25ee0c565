package dev.stoker.metadata.chunks;

import dev.stoker.schemas.chunk.PackedChunk;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The class names that chunks use, and the number of their rows without a class, by categorical field. */
public final class UsedClasses {

    private final TreeMap<String, SortedSet<String>> names = new TreeMap<>();
    private final TreeMap<String, Long> missing = new TreeMap<>();

    /** Adds those of a chunk. */
    public void add(PackedChunk chunk) {
        add(chunk.classes());
        addMissing(chunk.missing());
    }

    /** Adds those of other chunks. */
    public void add(UsedClasses others) {
        add(others.names);
        addMissing(others.missing);
    }

    /** Adds class names, by field. */
    public void add(Map<String, ? extends Collection<String>> others) {
        others.forEach((field, used) ->
                names.computeIfAbsent(field, f -> new TreeSet<>()).addAll(used));
    }

    /** Adds numbers of rows without a class, by field. */
    public void addMissing(Map<String, Long> others) {
        others.forEach((field, rows) -> missing.merge(field, rows, Long::sum));
    }

    /** The class names by field. Not a copy. */
    public TreeMap<String, SortedSet<String>> names() {
        return names;
    }

    /** The class names by field, as a version names them. */
    public Map<String, List<String>> lists() {
        Map<String, List<String>> lists = new TreeMap<>();
        names.forEach((field, used) -> lists.put(field, List.copyOf(used)));
        return lists;
    }

    /** The number of rows without a class by field, without zeros. Not a copy. */
    public SortedMap<String, Long> missing() {
        return missing;
    }
}

package dev.stoker.schemas.table;

import dev.stoker.schemas.log.ErasedClasses;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Contains the class names of a version's categorical fields. The id of a name is its index in the list of its field.
 * Lists only grow, so an id keeps its meaning in all later versions. An erasure replaces names by tombstones, which
 * keep the ids. Immutable and thread-safe.
 */
public final class ClassTable {

    /** A table without classes. */
    public static final ClassTable EMPTY = new ClassTable(new TreeMap<>());

    private final Map<String, List<String>> names;
    private final Map<String, Map<String, Integer>> ids = new HashMap<>();

    private ClassTable(TreeMap<String, List<String>> names) {
        this.names = Collections.unmodifiableMap(names);
        names.forEach((field, list) -> {
            Map<String, Integer> byName = new HashMap<>();
            for (int id = 0; id < list.size(); id++) {
                if (byName.put(list.get(id), id) != null) {
                    throw new IllegalArgumentException(
                            "Field " + field + " has the class '" + list.get(id) + "' twice");
                }
            }
            ids.put(field, byName);
        });
    }

    /** @param names each field's class names in the order of their ids */
    public static ClassTable of(Map<String, List<String>> names) {
        TreeMap<String, List<String>> copy = new TreeMap<>();
        names.forEach((field, list) -> copy.put(field, List.copyOf(list)));
        return new ClassTable(copy);
    }

    /**
     * Returns this table with additional names. The missing names are appended to each field's list in the given order.
     */
    public ClassTable with(Map<String, List<String>> more) {
        TreeMap<String, List<String>> union = new TreeMap<>(names);
        boolean changed = false;
        for (Map.Entry<String, List<String>> entry : more.entrySet()) {
            String field = entry.getKey();
            List<String> list = new ArrayList<>(names(field));
            Map<String, Integer> known = ids.getOrDefault(field, Map.of());
            for (String name : entry.getValue()) {
                if (!known.containsKey(name)) {
                    list.add(name);
                }
            }
            changed |= !union.containsKey(field) || list.size() > names(field).size();
            union.put(field, List.copyOf(list));
        }
        return changed ? new ClassTable(union) : this;
    }

    /** Returns this table with tombstones instead of erased names. Leaves fields alone whose ids are others. */
    public ClassTable without(ErasedClasses erased) {
        TreeMap<String, List<String>> all = new TreeMap<>(names);
        erased.fields().forEach((field, replaced) -> {
            List<String> list = replaced(field, replaced.tombstones());
            if (ErasedClasses.crc32c(list) == replaced.crc32c()) {
                all.put(field, list);
            }
        });
        return all.equals(names) ? this : new ClassTable(all);
    }

    /**
     * Returns what an entry has to say to replace names.
     *
     * @param tombstones for each field the tombstones of ids
     */
    public ErasedClasses erasing(Map<String, ? extends SortedMap<Integer, String>> tombstones) {
        Map<String, ErasedClasses.Names> fields = new TreeMap<>();
        tombstones.forEach((field, ids) ->
                fields.put(field, new ErasedClasses.Names(ids, ErasedClasses.crc32c(replaced(field, ids)))));
        return new ErasedClasses(fields);
    }

    private List<String> replaced(String field, Map<Integer, String> tombstones) {
        List<String> list = new ArrayList<>(names(field));
        tombstones.forEach((id, name) -> {
            if (id < list.size()) {
                list.set(id, name);
            }
        });
        return List.copyOf(list);
    }

    /** Returns the class names by field, in ascending field name. A list's index is the id. */
    public Map<String, List<String>> names() {
        return names;
    }

    /** Returns the class names of a field in the order of their ids; empty if it has none. */
    public List<String> names(String field) {
        return names.getOrDefault(field, List.of());
    }

    /** Returns the id of a class. */
    public OptionalInt id(String field, String name) {
        Integer id = ids.getOrDefault(field, Map.of()).get(name);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ClassTable that && names.equals(that.names);
    }

    @Override
    public int hashCode() {
        return names.hashCode();
    }

    @Override
    public String toString() {
        return names.toString();
    }
}

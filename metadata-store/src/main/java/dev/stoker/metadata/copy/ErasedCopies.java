package dev.stoker.metadata.copy;

import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.log.ErasedClasses;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.table.ClassTable;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Compares files of a dataset with those of its copy. An erasure of class names changes the files of the source only,
 * so a copy that was made before has the names.
 */
final class ErasedCopies {

    private ErasedCopies() {}

    static boolean isSame(DatasetInfo source, DatasetInfo copy) {
        return source.equals(copy)
                || (source.withClasses(Map.of()).equals(copy.withClasses(Map.of()))
                        && areReplaced(source.classes(), copy.classes()));
    }

    /** An entry at the source can lack a name that an earlier entry has introduced. */
    static boolean isSame(LogEntry source, LogEntry copy) {
        return source.withClasses(Map.of()).equals(copy.withClasses(Map.of()))
                && source.classes().entrySet().stream()
                        .allMatch(field -> field.getValue().stream()
                                .allMatch(name -> ErasedClasses.isTombstone(name)
                                        || copy.classes()
                                                .getOrDefault(field.getKey(), List.of())
                                                .contains(name)));
    }

    static boolean isSame(ChunkTable source, ChunkTable copy) {
        return Arrays.equals(
                        source.withClasses(ClassTable.EMPTY).encode(),
                        copy.withClasses(ClassTable.EMPTY).encode())
                && areReplaced(source.classes().names(), copy.classes().names());
    }

    private static boolean areReplaced(Map<String, List<String>> names, Map<String, List<String>> before) {
        return names.keySet().equals(before.keySet())
                && names.entrySet().stream()
                        .allMatch(
                                field -> isReplaced(field.getValue(), before.getOrDefault(field.getKey(), List.of())));
    }

    private static boolean isReplaced(List<String> names, List<String> before) {
        if (names.size() != before.size()) {
            return false;
        }
        for (int i = 0; i < names.size(); i++) {
            if (!names.get(i).equals(before.get(i)) && !ErasedClasses.isTombstone(names.get(i))) {
                return false;
            }
        }
        return true;
    }
}

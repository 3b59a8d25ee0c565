package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.VersionLog;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.table.ClassTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces class names by tombstones in the log, the chunk tables and dataset.json. No class gets another id, not even
 * for a reader that reads old and new files together. Can be repeated. Used by one thread.
 *
 * <p>The id of a class is fixed by the first file that names it. The order is therefore: take the name out of all
 * entries that only repeat it; replace it in chunk tables; replace it where it is first. After a crash at any moment,
 * every mixture of old and new files gives the same ids. Each second copy is replaced before its original. Normative:
 * {@code docs/formats/dataset.md}, "Erased classes".
 */
public final class ClassReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(ClassReplacement.class);

    /** Says what replaces a name. */
    @FunctionalInterface
    public interface Tombstones {

        /** Returns the tombstone of a name that is erased, and of the tombstone itself. */
        Optional<String> of(String field, String name);
    }

    private record FieldName(String field, String name) {}

    private final Dataset dataset;
    private final ObjectStore store;
    private final Tombstones tombstones;
    private final NavigableSet<String> changed = new TreeSet<>();
    private final Set<FieldName> introduced = new HashSet<>();

    public ClassReplacement(Dataset dataset, Tombstones tombstones) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.tombstones = tombstones;
    }

    /**
     * Replaces the names in all files of the versions before the one that has erased them.
     *
     * @param erasing the version whose entry has the property {@link LogEntry#ERASED_CLASSES}
     * @return the names of the files that were replaced or deleted
     */
    public NavigableSet<String> run(long erasing) throws IOException {
        NavigableSet<Long> versions = dataset.log().logVersions(1).headSet(erasing, false);
        introduced.clear();
        changed.clear();
        introduce(declared());
        if (!versions.isEmpty() && versions.first() > 1) {
            // A copy without the entries of expired versions. A chunk table has their names.
            introduce(dataset.log().table(versions.first()).classes().names());
        }
        List<Long> first = new ArrayList<>();
        for (long version : versions) {
            LogEntry entry = dataset.log().entry(version);
            if (takeOutRepeated(entry)) {
                first.add(version);
            }
        }
        for (long version : dataset.log().tables().headSet(erasing, false)) {
            replaceInTable(version);
        }
        for (long version : first) {
            LogEntry entry = dataset.log().entry(version);
            replace(entry, replaced(entry.classes()));
        }
        replaceInDescriptions();
        return new TreeSet<>(changed);
    }

    private void introduce(Map<String, List<String>> names) {
        names.forEach((field, list) -> list.forEach(name -> introduced.add(known(field, name))));
    }

    /** A name and its tombstone are the same class. */
    private FieldName known(String field, String name) {
        return new FieldName(field, tombstones.of(field, name).orElse(name));
    }

    /** Returns whether an erased name occurs first in this entry. */
    private boolean takeOutRepeated(LogEntry entry) throws IOException {
        Map<String, List<String>> left = new TreeMap<>();
        boolean isFirst = false;
        for (Map.Entry<String, List<String>> field : entry.classes().entrySet()) {
            List<String> names = new ArrayList<>();
            for (String name : field.getValue()) {
                boolean isNew = introduced.add(known(field.getKey(), name));
                boolean isErased = tombstones.of(field.getKey(), name).isPresent();
                isFirst |= isErased && isNew;
                if (!isErased || isNew) {
                    names.add(name);
                }
            }
            if (!names.isEmpty() || field.getValue().isEmpty()) {
                left.put(field.getKey(), names);
            }
        }
        replace(entry, left);
        return isFirst;
    }

    private Map<String, List<String>> replaced(Map<String, List<String>> classes) {
        Map<String, List<String>> replaced = new TreeMap<>();
        classes.forEach((field, names) -> replaced.put(
                field,
                names.stream()
                        .map(name -> tombstones.of(field, name).orElse(name))
                        .toList()));
        return replaced;
    }

    private void replace(LogEntry entry, Map<String, List<String>> classes) throws IOException {
        // The second copy is replaced first, so it needs no look if the entry has none of the names.
        if (classes.equals(entry.classes())) {
            return;
        }
        byte[] content = entry.withClasses(classes).encode();
        replace(DatasetLayout.ingestCopy(entry.ingest()), content);
        replace(DatasetLayout.logEntry(entry.version()), content);
    }

    private void replaceInTable(long version) throws IOException {
        String name = DatasetLayout.table(version);
        try {
            ChunkTable table = ChunkTable.decode(store.readAll(name, Integer.MAX_VALUE), store.describe(name));
            Map<String, List<String>> names = replaced(table.classes().names());
            replace(name, table.withClasses(ClassTable.of(names)).encode());
        } catch (NoSuchObjectException e) {
            // A commit has deleted it as superseded.
        } catch (StokerException e) {
            LOG.warn("Deleting chunk table {}, which readers ignore: {}", store.describe(name), ErrorText.of(e));
            store.delete(name);
            changed.add(name);
        }
    }

    private Map<String, List<String>> declared() throws IOException {
        return read(DatasetLayout.DATASET_JSON).classes();
    }

    private DatasetInfo read(String name) throws IOException {
        return DatasetInfo.decode(store.readAll(name, DatasetInfo.MAX_BYTES), store.describe(name));
    }

    /** The declared names have the first ids, so they are replaced last. */
    private void replaceInDescriptions() throws IOException {
        DatasetInfo info = read(DatasetLayout.DATASET_JSON);
        Map<String, List<String>> classes = replaced(info.classes());
        if (info.classes().equals(classes) && !isCopyDifferent(info)) {
            return;
        }
        byte[] content = info.withClasses(classes).encode();
        replace(DatasetLayout.DATASET_COPY, content);
        replace(DatasetLayout.DATASET_JSON, content);
    }

    private boolean isCopyDifferent(DatasetInfo info) throws IOException {
        try {
            return !read(DatasetLayout.DATASET_COPY).equals(info);
        } catch (NoSuchObjectException e) {
            return false;
        } catch (StokerException e) {
            // A damaged copy may contain the names.
            return true;
        }
    }

    /** Replaces an object whose content differs. */
    private void replace(String name, byte[] content) throws IOException {
        try {
            if (!Arrays.equals(store.readAll(name, VersionLog.MAX_ENTRY_BYTES), content)) {
                store.replace(name, content);
                changed.add(name);
            }
        } catch (NoSuchObjectException e) {
            LOG.debug("{} does not exist", store.describe(name));
        }
    }
}

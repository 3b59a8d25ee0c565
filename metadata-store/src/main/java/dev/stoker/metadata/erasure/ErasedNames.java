package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.dataset.ErasedClass;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ErasedClasses;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/** Looks for erased class names in the metadata files of a dataset. Thread-safe. */
final class ErasedNames {

    private static final long MAX_BYTES = 1L << 30;

    private final Dataset dataset;
    private final ObjectStore store;
    private final Erasure certificate;
    private final ErasureResult result;
    private final List<ErasedClass> classes;
    /** 0 until it is known; guarded by the monitor of this object. */
    private long version;

    ErasedNames(Dataset dataset, Erasure certificate) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.certificate = certificate;
        this.result = certificate.result().orElseThrow();
        this.classes = result.classes();
    }

    /** Returns the version whose entry has erased the names. Later versions can have the same names again. */
    synchronized long version() throws IOException {
        if (version == 0) {
            VersionCommitter committer = new VersionCommitter(dataset, InstantSource.system(), "");
            // The entry may have been lost and rebuilt without its id.
            version = new ClassErasure(dataset, committer, certificate)
                    .entry()
                    .map(LogEntry::version)
                    .orElse(result.versions().newest());
        }
        return version;
    }

    /** Returns the number of erased names in the dictionaries of a chunk or an overlay. */
    int in(ChunkHead head) {
        ClassReplacement.Tombstones tombstones = tombstones();
        return (int) LastClasses.names(head).stream()
                .filter(name -> isErased(tombstones, name.field(), name.name()))
                .count();
    }

    private ClassReplacement.Tombstones tombstones() {
        return ClassErasure.tombstones(certificate.keys(), classes);
    }

    private static boolean isErased(ClassReplacement.Tombstones tombstones, String field, String name) {
        return !ErasedClasses.isTombstone(name) && tombstones.of(field, name).isPresent();
    }

    /** Reports the files of the log, chunk tables, descriptions and old overlays that have one of the names. */
    void names(BiConsumer<String, String> find) throws IOException {
        if (classes.isEmpty()) {
            return;
        }
        ClassReplacement.Tombstones tombstones = tombstones();
        for (String directory : List.of(DatasetLayout.LOG, DatasetLayout.INGESTS, DatasetLayout.TABLES)) {
            for (String name : new TreeSet<>(store.list(directory).toList().stream()
                    .map(ObjectInfo::name)
                    .toList())) {
                look(name, tombstones, find);
            }
        }
        for (String name : List.of(DatasetLayout.DATASET_JSON, DatasetLayout.DATASET_COPY)) {
            look(name, tombstones, find);
        }
        for (ObjectInfo overlay : store.list(ChunkNames.OVERLAYS + "/").toList()) {
            lookAtOverlay(overlay.name(), find);
        }
    }

    private void look(String name, ClassReplacement.Tombstones tombstones, BiConsumer<String, String> find)
            throws IOException {
        try {
            boolean isErased = names(name).entrySet().stream()
                    .anyMatch(field ->
                            field.getValue().stream().anyMatch(text -> isErased(tombstones, field.getKey(), text)));
            if (isErased) {
                find.accept(
                        name,
                        "names an erased class"
                                + (name.startsWith(DatasetLayout.TABLES)
                                        ? "; a writer may have written it during the erasure; delete it, readers use"
                                                + " the log instead"
                                        : ""));
            }
        } catch (NoSuchObjectException e) {
            // Superseded since it was listed.
        } catch (StokerException e) {
            find.accept(name, "cannot be read, so it may name an erased class: " + ErrorText.of(e));
        }
    }

    private void lookAtOverlay(String name, BiConsumer<String, String> find) throws IOException {
        try {
            ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, name));
            if (in(head) > 0
                    && !head.identity().created().isAfter(result.ended().orElseThrow())) {
                find.accept(name, "names an erased class");
            }
        } catch (NoSuchObjectException e) {
            // Garbage collection has deleted it.
        } catch (StokerException e) {
            find.accept(name, "cannot be read, so it may name an erased class: " + ErrorText.of(e));
        }
    }

    /** Returns the class names of a file that belongs to a version before. */
    private Map<String, List<String>> names(String name) throws IOException {
        byte[] content = store.readAll(name, MAX_BYTES);
        String file = store.describe(name);
        if (name.startsWith(DatasetLayout.TABLES)) {
            ChunkTable table = ChunkTable.decode(content, file);
            return table.version() < version() ? table.classes().names() : Map.of();
        }
        if (name.startsWith(DatasetLayout.LOG) || name.startsWith(DatasetLayout.INGESTS)) {
            LogEntry entry = LogEntry.decode(content, file);
            return entry.version() < version() ? entry.classes() : Map.of();
        }
        return DatasetInfo.decode(content, file).classes();
    }
}

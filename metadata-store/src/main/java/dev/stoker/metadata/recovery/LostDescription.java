package dev.stoker.metadata.recovery;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.VersionLog;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Restores dataset.json from its second copy, or from the head of a chunk, which contains everything except the name
 * and the options. The log and the chunks identify the dataset; the description of another dataset is replaced. Not
 * thread-safe.
 */
final class LostDescription {

    private final ObjectStore store;
    private final List<String> notes = new ArrayList<>();
    private final List<String> damaged = new ArrayList<>();
    private final List<RecoveryPlan.Write> writes = new ArrayList<>();

    LostDescription(ObjectStore store) {
        this.store = store;
    }

    /**
     * Returns the description of the dataset to which the log and the chunks belong.
     *
     * @throws NotADatasetException if there are no files of a dataset
     * @throws CorruptDataException if no file describes the dataset
     */
    DatasetInfo find() throws IOException {
        Optional<DatasetInfo> own = read(DatasetLayout.DATASET_JSON);
        Optional<UUID> log = datasetOfLog();
        if (own.isPresent() && (log.isEmpty() || log.get().equals(own.get().id()))) {
            Optional<DatasetInfo> copy = read(DatasetLayout.DATASET_COPY);
            if (!copy.equals(own)) {
                replace(DatasetLayout.DATASET_COPY, own.get(), "the second copy of dataset.json");
            }
            return own.get();
        }
        if (own.isPresent()) {
            notes.add(store.describe(DatasetLayout.DATASET_JSON) + " describes dataset "
                    + own.get().id() + ", but the log belongs to dataset " + log.get());
        }
        Optional<DatasetInfo> copy = read(DatasetLayout.DATASET_COPY)
                .filter(info -> log.isEmpty() || info.id().equals(log.get()));
        DatasetInfo info = copy.isPresent() ? copy.get() : ofHeads(log);
        String source = copy.isPresent() ? "its second copy" : "the head of a chunk";
        replace(DatasetLayout.DATASET_JSON, info, "the dataset's description, from " + source);
        if (copy.isEmpty()) {
            replace(DatasetLayout.DATASET_COPY, info, "its second copy");
            notes.add("Name, options and declared classes of the dataset are lost with dataset.json and its copy: it is"
                    + " called " + info.name() + " now, after its directory, and later ingests use the default chunk"
                    + " size and split unless they are told otherwise");
        }
        return info;
    }

    private void replace(String name, DatasetInfo info, String reason) throws IOException {
        if (exists(name)) {
            damaged.add(name);
        }
        writes.add(new RecoveryPlan.Write(name, info.encode(), reason));
    }

    private boolean exists(String name) throws IOException {
        try {
            store.length(name);
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    private Optional<DatasetInfo> read(String name) throws IOException {
        try {
            return Optional.of(DatasetInfo.decode(store.readAll(name, DatasetInfo.MAX_BYTES), store.describe(name)));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        } catch (FormatTooNewException e) {
            throw e;
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            notes.add(e.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the dataset to which most entries of the log belong, or else most of their second copies. */
    private Optional<UUID> datasetOfLog() throws IOException {
        for (String prefix : List.of(DatasetLayout.LOG, DatasetLayout.INGESTS)) {
            Map<UUID, Integer> votes = new TreeMap<>();
            try (ObjectIterator objects = store.list(prefix)) {
                while (objects.hasNext()) {
                    String name = objects.next().name();
                    try {
                        LogEntry entry =
                                LogEntry.decode(store.readAll(name, VersionLog.MAX_ENTRY_BYTES), store.describe(name));
                        votes.merge(entry.dataset(), 1, Integer::sum);
                    } catch (CorruptDataException | ForeignFileException e) {
                        // Reported when the log is read.
                    } catch (NoSuchObjectException e) {
                        // Another recovery is replacing the entry.
                    }
                }
            }
            Optional<UUID> most =
                    votes.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
            if (most.isPresent()) {
                return most;
            }
        }
        return Optional.empty();
    }

    /** Uses the chunk with the fewest fields: other ones may have fields that were added later. */
    private DatasetInfo ofHeads(Optional<UUID> dataset) throws IOException {
        boolean isAny = false;
        @Nullable DatasetInfo found = null;
        try (ObjectIterator objects = store.list(DatasetLayout.CHUNKS)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                if (ChunkNames.idOf(object.name()).isEmpty()) {
                    continue;
                }
                isAny = true;
                try {
                    ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, object.name()));
                    UUID id = head.identity().dataset();
                    boolean isWanted = found == null
                            ? dataset.isEmpty() || dataset.get().equals(id)
                            : found.id().equals(id)
                                    && head.fields().size() < found.fields().size();
                    if (isWanted) {
                        Instant created = head.identity().created().truncatedTo(ChronoUnit.MILLIS);
                        found = new DatasetInfo(id, name(), created, head.fields(), Map.of());
                    }
                    if (found != null && !mayHaveAdded(found)) {
                        return found;
                    }
                } catch (StokerException e) {
                    StoreErrors.rethrow(e);
                    notes.add("Left out: " + e.getMessage());
                }
            }
        }
        if (found != null) {
            return found;
        }
        String where = Dataset.where(store);
        if (!isAny && dataset.isEmpty()) {
            throw new NotADatasetException(where);
        }
        throw new CorruptDataException(where + " has no " + DatasetLayout.DATASET_JSON
                + ", no second copy of it and no intact chunk of its dataset"
                + dataset.map(id -> " " + id).orElse("")
                + "; restore " + DatasetLayout.DATASET_JSON + " from a backup");
    }

    /** Whether the last small field can have been added after the creation. */
    private static boolean mayHaveAdded(DatasetInfo info) {
        List<Field> small = info.smallFields();
        return !small.isEmpty() && small.get(small.size() - 1).nullable();
    }

    private String name() {
        String where = Dataset.where(store);
        String name = where.substring(where.lastIndexOf('/') + 1);
        return name.isEmpty() ? "recovered" : name;
    }

    List<String> notes() {
        return notes;
    }

    List<String> damaged() {
        return damaged;
    }

    List<RecoveryPlan.Write> writes() {
        return writes;
    }
}

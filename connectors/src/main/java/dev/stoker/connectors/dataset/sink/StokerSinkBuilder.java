package dev.stoker.connectors.dataset.sink;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.connectors.dataset.SinkTarget;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Collects the settings of a {@link StokerSink}. Path, description and serializer are required. A builder makes sinks
 * for one job each, because each has its own ingest id. Not thread-safe.
 *
 * @param <T> the type of the records
 */
public final class StokerSinkBuilder<T> {

    private static final int DEFAULT_CHUNK_SIZE = 8 << 20;

    private DatasetStore store = DatasetStore.BY_LOCATION;
    private String path = "";
    private String split = "train";
    private String ingest = "";
    private int chunkSizeBytes = DEFAULT_CHUNK_SIZE;
    private long baseVersion;
    private IngestRun.Effect effect = IngestRun.Effect.APPEND;
    private SampleKeys keys = SampleKeys.GENERATED;
    private @Nullable DatasetInfo info;
    private @Nullable SampleSerializer<T> serializer;

    StokerSinkBuilder() {}

    /** Sets the dataset's location: a path that all machines of the job have mounted, or a URI. */
    public StokerSinkBuilder<T> setPath(String location) {
        path = location;
        return this;
    }

    /**
     * Sets the description of the dataset. If the dataset exists, this is its own description. Otherwise, the job
     * creates the dataset with it.
     */
    public StokerSinkBuilder<T> setDataset(DatasetInfo description) {
        info = description;
        return this;
    }

    /** Sets the split of samples for which the serializer names no other. By default {@code train}. */
    public StokerSinkBuilder<T> setSplit(String name) {
        split = name;
        return this;
    }

    /**
     * Sets the ingest id, under which at most one version is committed. In streaming mode, the number of the checkpoint
     * follows it. By default, each sink has a new one.
     */
    public StokerSinkBuilder<T> setIngestId(String id) {
        ingest = id;
        return this;
    }

    /** Sets the length at which a chunk is written. By default 8 MiB. */
    public StokerSinkBuilder<T> setChunkSize(int bytes) {
        chunkSizeBytes = bytes;
        return this;
    }

    /** Removes the samples of all earlier versions from the new one. */
    public StokerSinkBuilder<T> replaceAll() {
        effect = IngestRun.Effect.REPLACE;
        return this;
    }

    /**
     * Uses the keys of the records. Each key can occur once in the dataset. Only for bounded jobs without checkpoints.
     *
     * @see SampleSerializer#key
     */
    public StokerSinkBuilder<T> withGivenKeys() {
        keys = SampleKeys.GIVEN;
        return this;
    }

    /**
     * Sets the newest version when the job was planned. Given keys are compared with its keys, and with the keys of
     * versions that others commit after it. By default 0, the version before the first one.
     */
    public StokerSinkBuilder<T> setBaseVersion(long newest) {
        baseVersion = newest;
        return this;
    }

    /** Sets the function that makes samples of records. */
    public StokerSinkBuilder<T> setSerializer(SampleSerializer<T> function) {
        serializer = function;
        return this;
    }

    /** Sets how the store is opened. By default {@link DatasetStore#BY_LOCATION}. */
    public StokerSinkBuilder<T> setStore(DatasetStore opener) {
        store = opener;
        return this;
    }

    /**
     * Builds the sink. Does not open the dataset.
     *
     * @throws IllegalArgumentException if a setting is missing or wrong; the message names all problems
     */
    public StokerSink<T> build() {
        List<String> problems = new ArrayList<>();
        if (path.isEmpty()) {
            problems.add("the path of the dataset is missing; call setPath");
        }
        if (split.isEmpty()) {
            problems.add("the name of the split is empty");
        }
        if (chunkSizeBytes < 1 || chunkSizeBytes > 1 << 30) {
            problems.add("the chunk size is " + chunkSizeBytes + " bytes; it must be at most 1 GiB");
        }
        DatasetInfo description = info;
        if (description == null) {
            problems.add("the description of the dataset is missing; call setDataset");
        }
        SampleSerializer<T> function = serializer;
        if (function == null) {
            problems.add("the serializer is missing; call setSerializer");
        }
        if (description == null || function == null || !problems.isEmpty()) {
            throw new IllegalArgumentException("Cannot write a dataset: " + String.join("; ", problems));
        }
        IngestRun run = new IngestRun(
                store,
                Stores.normalize(path),
                description.id().toString(),
                ingest.isEmpty() ? "sink-" + UUID.randomUUID() : ingest,
                effect,
                baseVersion,
                Map.of());
        return new StokerSink<>(new SinkTarget(run, description.encode(), split, chunkSizeBytes, keys), function);
    }
}

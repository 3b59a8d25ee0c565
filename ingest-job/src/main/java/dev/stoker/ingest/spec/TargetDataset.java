package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.OptionValues;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.apache.flink.configuration.MemorySize;

/** The dataset that an ingest writes to: creates or finds its description. */
public final class TargetDataset {

    private static final String CHUNK_SIZE_OPTION = "chunk_size";

    /** The kind of writer that created the dataset for its own first version. */
    private static final String BEGUN_BY_OPTION = "begun_by";

    private static final String INGEST = "ingest";

    private TargetDataset() {}

    /**
     * The description of a new dataset.
     *
     * @param classes that it declares, by categorical field
     * @param chunkSizeBytes as requested
     */
    public static DatasetInfo describe(
            String name,
            List<Field> fields,
            Map<String, List<String>> classes,
            OptionalInt chunkSizeBytes,
            SplitRule rule) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put(CHUNK_SIZE_OPTION, (long) chunkSizeBytes.orElse(defaultChunkSize()));
        rule.keep(settings);
        settings.put(BEGUN_BY_OPTION, INGEST);
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        return new DatasetInfo(UUID.randomUUID(), name, now, fields, classes, settings);
    }

    /**
     * Creates a dataset, so that chunks belong to a dataset.
     *
     * @throws DatasetExistsException if another ingest was faster
     */
    public static void create(String target, DatasetStore stores, DatasetInfo info) throws IOException {
        try (ObjectStore store = stores.open(target)) {
            Dataset.create(store, info);
        }
    }

    /** Returns whether an ingest, and not a person, chose the fields of a dataset. */
    public static boolean isBegunByIngest(DatasetInfo info) {
        return INGEST.equals(info.options().get(BEGUN_BY_OPTION));
    }

    /** Returns whether two descriptions differ in their id, name and time at most. */
    public static boolean isSame(DatasetInfo one, DatasetInfo other) {
        return one.fields().equals(other.fields())
                && one.classes().equals(other.classes())
                && one.options().equals(other.options());
    }

    /**
     * Gives a dataset without a version other fields. A first ingest that failed binds nothing.
     *
     * @param ingest id of the ingest that will write the first version
     * @param before the description that a failed ingest left
     * @throws dev.stoker.metadata.lease.LeaseHeldException if another writer is running
     */
    public static void begin(
            String target, DatasetStore stores, DatasetInfo before, DatasetInfo info, String ingest, String process)
            throws IOException {
        try (ObjectStore store = stores.open(target)) {
            Dataset dataset = Dataset.open(store);
            if (!dataset.info().id().equals(before.id())) {
                throw new InvalidIngestException(
                        "the dataset at " + target + " was replaced by another one meanwhile; run the ingest again");
            }
            Leases leases = new Leases(dataset);
            leases.takeAlone(ingest, Clock.systemUTC(), WriterProcess.user(), process);
            try {
                dataset.begin(info);
            } finally {
                leases.release(ingest);
            }
        } catch (DatasetExistsException e) {
            throw new InvalidIngestException("another ingest has committed to " + target
                    + " meanwhile; add to it with --append, or create a version with only the new samples with"
                    + " --replace");
        }
    }

    /** Whether no version of the dataset ever had a sample. */
    public static boolean isEmpty(Dataset dataset) throws IOException {
        return dataset.latest().table().size() == 0;
    }

    /** The advice for a dataset that another ingest began with other fields and that has no sample yet. */
    public static String begunByAnother(String target) {
        return "another ingest began " + target
                + " with these fields and has not committed yet; use the same fields,"
                + " or another directory. If that ingest is dead, delete " + target + " and run again";
    }

    /** The length of a chunk: as requested, or as set when the dataset was created. */
    public static int chunkSizeBytes(DatasetInfo info, OptionalInt asked) {
        Object kept = info.options().get(CHUNK_SIZE_OPTION);
        int own = kept instanceof Long bytes ? (int) Math.min(bytes, 1 << 30) : defaultChunkSize();
        return asked.orElse(own);
    }

    /** Returns the lines of a plan with the order and the length of the chunks. */
    public static List<String> chunkLines(WalkOrder order, int chunkSizeBytes) {
        return List.of("order  " + order.text(), "chunks of " + OptionValues.text(new MemorySize(chunkSizeBytes)));
    }

    /** Returns the line of a plan with a field. */
    public static String line(Field field) {
        return "field  " + field.name() + ": " + field.type().canonical() + (field.nullable() ? ", nullable" : "")
                + (field.payload() ? ", payload" : "");
    }

    private static int defaultChunkSize() {
        return (int) IngestFlags.CHUNK_SIZE.defaultValue().getBytes();
    }

    /** The problem with a field that must have a type; empty if there is none. */
    public static Optional<String> misfit(DatasetInfo info, String name, String type) {
        Optional<String> found = info.field(name).map(field -> field.type().canonical());
        if (found.isEmpty()) {
            return Optional.of("the dataset has no field " + name + "; it has " + names(info));
        }
        return found.filter(text -> !text.equals(type))
                .map(text -> "the dataset's field " + name + " has the type " + text + ", not " + type);
    }

    public static String names(DatasetInfo info) {
        return String.join(", ", info.fields().stream().map(Field::name).toList());
    }
}

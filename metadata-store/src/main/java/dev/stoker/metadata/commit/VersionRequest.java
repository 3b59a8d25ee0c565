package dev.stoker.metadata.commit;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.ClassOrder;
import dev.stoker.schemas.log.Operation;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Describes a requested commit.
 *
 * @param ingest id of the ingest; a second request under the same id changes nothing
 * @param operation kind of the commit
 * @param added chunks whose files are durable, in the order in which they get their ordinals
 * @param removal the rows to remove from the version before
 * @param update the chunks that get overlays
 * @param classes for each categorical field, the class names that the added chunks use, sorted
 * @param properties free text for people and tools
 * @param leases ids under whose leases the chunks were written; the commit fails if one of them was abandoned
 */
public record VersionRequest(
        String ingest,
        Operation operation,
        List<ChunkSummary> added,
        Removal removal,
        Update update,
        Map<String, List<String>> classes,
        Properties properties,
        List<String> leases) {

    /**
     * Prefix of the ids of compactions. No other id should have it: it says that other chunks contain the same samples.
     */
    public static final String COMPACTION = "compact-";

    /** What a version says of itself. */
    @FunctionalInterface
    public interface Properties {

        /**
         * Returns the properties, as texts by name. The commit asks for them after the removal.
         *
         * @param base the version before
         */
        Map<String, String> of(Snapshot base) throws IOException;
    }

    public VersionRequest {
        DatasetLayout.checkIngestId(ingest);
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(removal, "removal");
        Objects.requireNonNull(update, "update");
        added = List.copyOf(added);
        classes = sorted(classes);
        Objects.requireNonNull(properties, "properties");
        leases = List.copyOf(leases);
    }

    /** Creates a request that updates nothing. */
    public VersionRequest(
            String ingest,
            Operation operation,
            List<ChunkSummary> added,
            Removal removal,
            Map<String, List<String>> classes,
            Properties properties,
            List<String> leases) {
        this(ingest, operation, added, removal, Update.NOTHING, classes, properties, leases);
    }

    /** Creates a request whose properties are the same after any version. */
    public VersionRequest(
            String ingest,
            Operation operation,
            List<ChunkSummary> added,
            Removal removal,
            Map<String, List<String>> classes,
            Map<String, String> properties,
            List<String> leases) {
        this(ingest, operation, added, removal, classes, constant(properties), leases);
    }

    private static Properties constant(Map<String, String> properties) {
        Map<String, String> copy = Map.copyOf(properties);
        return base -> copy;
    }

    /** Creates a request whose chunks were written under the lease of its own id. */
    public VersionRequest(
            String ingest,
            Operation operation,
            List<ChunkSummary> added,
            Removal removal,
            Map<String, List<String>> classes,
            Map<String, String> properties) {
        this(ingest, operation, added, removal, classes, properties, List.of(ingest));
    }

    public static Map<String, List<String>> sorted(Map<String, ? extends Collection<String>> classes) {
        Map<String, List<String>> sorted = new TreeMap<>();
        classes.forEach((field, names) -> sorted.put(
                field, names.stream().distinct().sorted(ClassOrder.INSTANCE).toList()));
        return sorted;
    }

    /** Adds chunks to the existing ones. */
    public static VersionRequest append(
            String ingest,
            List<ChunkSummary> added,
            Map<String, List<String>> classes,
            Map<String, String> properties) {
        return new VersionRequest(ingest, Operation.INGEST, added, Removal.NOTHING, classes, properties);
    }

    /** Replaces all existing chunks. */
    public static VersionRequest replace(
            String ingest,
            List<ChunkSummary> added,
            Map<String, List<String>> classes,
            Map<String, String> properties) {
        return new VersionRequest(ingest, Operation.REPLACE, added, Removal.EVERYTHING, classes, properties);
    }

    /**
     * Replaces chunks with others that contain the same samples.
     *
     * @param ingest id that begins with {@link #COMPACTION}
     */
    public static VersionRequest compact(
            String ingest,
            List<ChunkSummary> added,
            Removal removal,
            Map<String, List<String>> classes,
            Map<String, String> properties) {
        if (!ingest.startsWith(COMPACTION)) {
            throw new IllegalArgumentException(
                    "The id of a compaction begins with " + COMPACTION + ", unlike '" + ingest + "'");
        }
        return new VersionRequest(ingest, Operation.COMPACT, added, removal, classes, properties);
    }

    /** Abandons an ingest: nothing can be committed under its id any more. */
    public static VersionRequest abandon(String ingest) {
        return new VersionRequest(ingest, Operation.ABANDON, List.of(), Removal.NOTHING, Map.of(), Map.of(), List.of());
    }

    /** Gives samples other values of small fields. The overlays are written under the lease of this id. */
    public static VersionRequest update(String ingest, Update update, Properties properties) {
        return new VersionRequest(
                ingest, Operation.UPDATE, List.of(), Removal.NOTHING, update, Map.of(), properties, List.of(ingest));
    }

    /** Removes samples. */
    public static VersionRequest remove(String ingest, Removal removal, Map<String, String> properties) {
        return new VersionRequest(ingest, Operation.REMOVE, List.of(), removal, Map.of(), properties);
    }
}

package dev.stoker.schemas.log;

import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Describes one commit: the changes of version {@code version} relative to the version before.
 *
 * @param dataset the dataset's id
 * @param version 1 for the first
 * @param ingest id of the ingest; unique in a dataset
 * @param operation kind of the commit
 * @param committedMs time of the commit, in milliseconds since 1970, by the committer's clock
 * @param committedBy user and host of the committer, for people
 * @param added chunks in ascending ordinal
 * @param removed at most one per chunk, in ascending ordinal
 * @param updated chunks with another overlay, in ascending ordinal
 * @param classes for each categorical field, the class names that the entry uses, ascending, except tombstones of
 *     {@link ErasedClasses}, which have the place of the names before
 * @param properties free text for people and tools
 */
public record LogEntry(
        UUID dataset,
        long version,
        String ingest,
        Operation operation,
        long committedMs,
        String committedBy,
        List<AddedChunk> added,
        List<RemovedRows> removed,
        List<UpdatedChunk> updated,
        Map<String, List<String>> classes,
        Map<String, String> properties) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** The property that names the Kafka topic that a version was ingested from. */
    public static final String TOPIC = "kafka.topic";

    /** The property that lists the fields that an entry adds. Only entries of updates and recoveries have it. */
    public static final String FIELDS = "fields";

    /** The property that lists the versions that an entry has expired. */
    public static final String EXPIRED = "expired";

    /** The property that replaces class names of the versions before by tombstones. */
    public static final String ERASED_CLASSES = "erased.classes";

    /** Creates an entry without updated chunks. */
    public LogEntry(
            UUID dataset,
            long version,
            String ingest,
            Operation operation,
            long committedMs,
            String committedBy,
            List<AddedChunk> added,
            List<RemovedRows> removed,
            Map<String, List<String>> classes,
            Map<String, String> properties) {
        this(
                dataset,
                version,
                ingest,
                operation,
                committedMs,
                committedBy,
                added,
                removed,
                List.of(),
                classes,
                properties);
    }

    public LogEntry {
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(committedBy, "committedBy");
        if (version < 1) {
            throw new IllegalArgumentException("Versions start at 1, not " + version);
        }
        if (ingest.isEmpty()) {
            throw new IllegalArgumentException("Empty ingest id");
        }
        added = List.copyOf(added);
        removed = List.copyOf(removed);
        updated = List.copyOf(updated);
        for (int i = 1; i < added.size(); i++) {
            if (added.get(i).ordinal() <= added.get(i - 1).ordinal()) {
                throw new IllegalArgumentException("Added chunks are not in ascending ordinal");
            }
        }
        for (int i = 1; i < removed.size(); i++) {
            if (removed.get(i).ordinal() <= removed.get(i - 1).ordinal()) {
                throw new IllegalArgumentException("Removed rows are not in ascending ordinal");
            }
        }
        for (int i = 1; i < updated.size(); i++) {
            if (updated.get(i).ordinal() <= updated.get(i - 1).ordinal()) {
                throw new IllegalArgumentException("Updated chunks are not in ascending ordinal");
            }
        }
        classes = checkedClasses(classes);
        properties = Collections.unmodifiableMap(new TreeMap<>(properties));
        if (operation == Operation.EXPIRE) {
            if (!added.isEmpty() || !removed.isEmpty() || !updated.isEmpty()) {
                throw new IllegalArgumentException("An expiry adds, removes or updates chunks");
            }
            // Throws an exception if the property is missing or wrong.
            ExpiredVersions.parse(properties.getOrDefault(EXPIRED, ""), version);
        }
        // Throws an exception if the property is wrong.
        fieldsOf(operation, properties);
        if (properties.containsKey(ERASED_CLASSES)) {
            // Throws an exception if the property is wrong.
            ErasedClasses.parse(properties.get(ERASED_CLASSES));
        }
    }

    private static Map<String, List<String>> checkedClasses(Map<String, List<String>> classes) {
        Map<String, List<String>> checked = new TreeMap<>();
        classes.forEach((field, names) -> {
            String before = null;
            for (String name : names) {
                if (ErasedClasses.isTombstone(name)) {
                    continue;
                }
                if (before != null && ClassOrder.INSTANCE.compare(before, name) >= 0) {
                    throw new IllegalArgumentException("Classes of field " + field + " do not ascend");
                }
                before = name;
            }
            if (Set.copyOf(names).size() < names.size()) {
                throw new IllegalArgumentException("A class of field " + field + " occurs twice");
            }
            checked.put(field, List.copyOf(names));
        });
        return Collections.unmodifiableMap(checked);
    }

    /** Returns the Kafka topic that the version was ingested from, if any. */
    public Optional<String> topic() {
        return Optional.ofNullable(properties.get(TOPIC));
    }

    /** Returns the versions that the entry has expired; none for other operations. */
    public ExpiredVersions expired() {
        return operation == Operation.EXPIRE
                ? ExpiredVersions.parse(properties.getOrDefault(EXPIRED, ""), version)
                : ExpiredVersions.NONE;
    }

    /** Returns the fields that the entry adds to the dataset. Versions before it may have some of them already. */
    public AddedFields addedFields() {
        return fieldsOf(operation, properties);
    }

    /** Returns properties that also list added fields, if there are some. */
    public static Map<String, String> properties(Map<String, String> others, AddedFields added) {
        if (added.isEmpty()) {
            return others;
        }
        Map<String, String> properties = new TreeMap<>(others);
        properties.put(FIELDS, added.toString());
        return properties;
    }

    private static AddedFields fieldsOf(Operation operation, Map<String, String> properties) {
        String text = properties.get(FIELDS);
        boolean isList = operation == Operation.UPDATE || operation == Operation.RECOVERED;
        return text == null || !isList ? AddedFields.NONE : AddedFields.parse(text);
    }

    /** Returns the class names of the versions before that the entry replaces by tombstones. */
    public ErasedClasses erasedClasses() {
        String text = properties.get(ERASED_CLASSES);
        return text == null ? ErasedClasses.NONE : ErasedClasses.parse(text);
    }

    /** Returns the number of samples that the version adds. A compaction moves samples, and adds none. */
    public long addedSamples() {
        return operation == Operation.COMPACT ? 0 : addedRows();
    }

    /** Returns the number of rows in the chunks that the entry adds. */
    public long addedRows() {
        return added.stream().mapToLong(AddedChunk::rows).sum();
    }

    /**
     * Encodes the entry's file.
     *
     * @throws IllegalArgumentException if a text in it contains the mark of the self-checksum
     */
    public byte[] encode() {
        return LogFormat.encode(this);
    }

    /**
     * Reads an entry's file.
     *
     * @param file its name as the user knows it
     */
    public static LogEntry decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return LogFormat.decode(content, file);
    }

    /** Returns the same entry with other class names. */
    public LogEntry withClasses(Map<String, List<String>> newClasses) {
        return new LogEntry(
                dataset,
                version,
                ingest,
                operation,
                committedMs,
                committedBy,
                added,
                removed,
                updated,
                newClasses,
                properties);
    }

    /** Returns the same entry at another position of the log. */
    public LogEntry withVersion(long newVersion, List<AddedChunk> newAdded, List<RemovedRows> newRemoved) {
        return new LogEntry(
                dataset,
                newVersion,
                ingest,
                operation,
                committedMs,
                committedBy,
                new ArrayList<>(newAdded),
                newRemoved,
                updated,
                classes,
                properties);
    }
}

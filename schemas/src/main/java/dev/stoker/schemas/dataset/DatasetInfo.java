package dev.stoker.schemas.dataset;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ClassNames;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import java.time.Instant;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Describes a dataset. The description is fixed at the dataset's creation, except that later versions can have more
 * small fields: see {@link #with}.
 *
 * @param id unique id of the dataset
 * @param name the dataset's name, for people
 * @param created time of creation, in whole milliseconds
 * @param fields in dataset order: small fields before payload fields
 * @param classes for categorical fields, the class names with the first ids, in the order of their ids. A class of a
 *     sample that is not among them gets its id with its first commit
 * @param options options of the creation: {@link String} or {@link Long} by name, in the given order
 */
public record DatasetInfo(
        UUID id,
        String name,
        Instant created,
        List<Field> fields,
        Map<String, List<String>> classes,
        Map<String, Object> options) {

    /** The format version that this release writes, and the newest that it reads. */
    public static final int FORMAT = 1;

    /** Maximum length of a dataset.json. */
    public static final int MAX_BYTES = 16 << 20;

    public DatasetInfo {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        fields = List.copyOf(fields);
        Map<String, List<String>> ordered = new LinkedHashMap<>();
        classes.forEach((field, list) -> ordered.put(field, List.copyOf(list)));
        classes = Collections.unmodifiableMap(ordered);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        SealedJson.requireMillis("The creation time", created);
        Set<String> names = new HashSet<>();
        boolean payload = false;
        for (Field field : fields) {
            if (!names.add(field.name())) {
                throw new IllegalArgumentException("Two fields are named " + field.name());
            }
            if (payload && !field.payload()) {
                throw new IllegalArgumentException(
                        "Small field " + field.name() + " comes after a payload field; small fields come first");
            }
            payload |= field.payload();
        }
        for (Map.Entry<String, List<String>> declared : classes.entrySet()) {
            requireClasses(declared.getKey(), declared.getValue(), fields);
        }
        options.forEach((option, setting) -> {
            if (!(setting instanceof String) && !(setting instanceof Long)) {
                throw new IllegalArgumentException("Option " + option + " is neither a String nor a Long: " + setting);
            }
        });
    }

    /** A description that declares no classes. */
    public DatasetInfo(UUID id, String name, Instant created, List<Field> fields, Map<String, Object> options) {
        this(id, name, created, fields, Map.of(), options);
    }

    /** Returns the same description with other names of the declared classes. */
    public DatasetInfo withClasses(Map<String, List<String>> newClasses) {
        return new DatasetInfo(id, name, created, fields, newClasses, options);
    }

    private static void requireClasses(String field, List<String> names, List<Field> fields) {
        if (fields.stream().noneMatch(f -> f.name().equals(field) && f.type() == ScalarType.CATEGORICAL)) {
            throw new IllegalArgumentException("Classes are declared for " + field + ", which is no categorical field");
        }
        if (names.isEmpty() || new HashSet<>(names).size() < names.size()) {
            throw new IllegalArgumentException("The declared classes of " + field + " are none, or one occurs twice");
        }
        names.forEach(ClassNames::check);
    }

    /**
     * Returns the description of the dataset at a version. Never written to dataset.json.
     *
     * @param added the fields that the version has beside those of dataset.json
     */
    public DatasetInfo with(AddedFields added) {
        return added.isEmpty() ? this : new DatasetInfo(id, name, created, added.in(fields), classes, options);
    }

    /** Returns the field of that name. The key is not a field. */
    public Optional<Field> field(String fieldName) {
        return fields.stream().filter(field -> field.name().equals(fieldName)).findFirst();
    }

    /** Returns the fields that are not payload, in dataset order. */
    public List<Field> smallFields() {
        return fields.stream().filter(field -> !field.payload()).toList();
    }

    /** Returns the payload fields, in dataset order. */
    public List<Field> payloadFields() {
        return fields.stream().filter(Field::payload).toList();
    }

    /**
     * Returns the content of dataset.json.
     *
     * @throws IllegalArgumentException if a name or option contains the mark of the self-checksum
     */
    public byte[] encode() {
        return DatasetJson.encode(this);
    }

    /**
     * Reads the content of a dataset.json.
     *
     * @param file its name as the user knows it
     */
    public static DatasetInfo decode(byte[] content, String file)
            throws CorruptDataException, ForeignFileException, FormatTooNewException {
        return DatasetJson.decode(content, file);
    }
}

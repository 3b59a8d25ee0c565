package dev.stoker.schemas.chunk;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.json.Json;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The fields that versions have beside those of dataset.json, in the order in which they were added. All of them are
 * small and nullable. In the list of all fields of a version, they follow the small fields of dataset.json and precede
 * the payload fields. Immutable and thread-safe. As a text, a JSON list: {@code [{"name":"score","type":"float64"}]}.
 */
public final class AddedFields implements Serializable {

    private static final long serialVersionUID = 1;

    /** No fields. */
    public static final AddedFields NONE = new AddedFields(List.of());

    /** The only state that Java serialization writes. */
    private final String text;

    private final transient List<Field> fields;

    private AddedFields(List<Field> fields) {
        Set<String> names = new HashSet<>();
        StringBuilder list = new StringBuilder();
        for (Field field : fields) {
            if (field.payload() || !field.nullable()) {
                throw new IllegalArgumentException(
                        "added field '" + field.name() + "': expected a small field that may be null");
            }
            if (!names.add(field.name())) {
                throw new IllegalArgumentException("field '" + field.name() + "' was added twice");
            }
            list.append(list.isEmpty() ? "" : ",")
                    .append("{\"name\":")
                    .append(JsonText.quoted(field.name()))
                    .append(",\"type\":")
                    .append(JsonText.quoted(field.type().canonical()))
                    .append('}');
        }
        this.text = "[" + list + "]";
        this.fields = List.copyOf(fields);
    }

    /** @throws IllegalArgumentException if one of the fields is payload or not nullable, or if two have one name */
    public static AddedFields of(List<Field> fields) {
        return fields.isEmpty() ? NONE : new AddedFields(fields);
    }

    /**
     * Reads the text form.
     *
     * @throws IllegalArgumentException if it is not the text of such fields
     */
    public static AddedFields parse(String text) {
        JsonNode list;
        try {
            list = Json.PLAIN.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("added fields are no JSON: " + e.getOriginalMessage(), e);
        }
        if (!list.isArray()) {
            throw new IllegalArgumentException("added fields are no list: " + text);
        }
        List<Field> fields = new ArrayList<>();
        for (JsonNode field : list) {
            if (!field.path("name").isTextual() || !field.path("type").isTextual()) {
                throw new IllegalArgumentException("an added field has no name or type: " + field);
            }
            fields.add(Field.nullable(
                    field.path("name").textValue(),
                    FieldType.parse(field.path("type").textValue())));
        }
        return of(fields);
    }

    private Object readResolve() {
        return parse(text);
    }

    /** Returns the fields. */
    public List<Field> fields() {
        return fields;
    }

    public boolean isEmpty() {
        return fields.isEmpty();
    }

    /**
     * Returns these fields and, after them, the missing ones of others.
     *
     * @throws IllegalArgumentException if both have a field of one name with different types
     */
    public AddedFields with(AddedFields more) {
        List<Field> all = new ArrayList<>(fields);
        for (Field field : more.fields) {
            Optional<Field> same =
                    all.stream().filter(f -> f.name().equals(field.name())).findFirst();
            if (same.isEmpty()) {
                all.add(field);
            } else if (!same.get().equals(field)) {
                throw new IllegalArgumentException("field '" + field.name() + "' has the type "
                        + same.get().type() + "; it cannot be added with the type " + field.type());
            }
        }
        return all.size() == fields.size() ? this : of(all);
    }

    /**
     * Returns all fields of a version.
     *
     * @param own the fields of dataset.json, or of a chunk, with any of the added ones
     * @throws IllegalArgumentException if an added field has the name of another one
     */
    public List<Field> in(List<Field> own) {
        if (isEmpty()) {
            return own;
        }
        List<Field> base = without(own);
        Set<String> names = new HashSet<>();
        base.forEach(field -> names.add(field.name()));
        for (Field field : fields) {
            if (names.contains(field.name())) {
                throw new IllegalArgumentException(
                        "the added field '" + field.name() + "' has the name of another field");
            }
        }
        List<Field> all = new ArrayList<>();
        base.stream().filter(field -> !field.payload()).forEach(all::add);
        all.addAll(fields);
        base.stream().filter(Field::payload).forEach(all::add);
        return List.copyOf(all);
    }

    /**
     * Returns whether a chunk can be part of a version: whether it has the fields of dataset.json, and beside them only
     * added ones.
     *
     * @param base the fields of dataset.json
     * @param own the fields of the chunk
     */
    public boolean fit(List<Field> base, List<Field> own) {
        return without(own).equals(without(base));
    }

    /** Returns the given fields without those that are added ones. */
    public List<Field> without(List<Field> own) {
        return isEmpty()
                ? own
                : own.stream().filter(field -> !fields.contains(field)).toList();
    }

    /**
     * Returns the fields of a chunk that dataset.json lacks; empty if they cannot have been added to the dataset.
     *
     * @param base the fields of dataset.json
     * @param own the fields of the chunk
     */
    public static Optional<AddedFields> beyond(List<Field> base, List<Field> own) {
        List<Field> more = own.stream().filter(field -> !base.contains(field)).toList();
        if (more.stream().anyMatch(field -> field.payload() || !field.nullable())) {
            return Optional.empty();
        }
        AddedFields added = of(more);
        Set<String> names = new HashSet<>();
        base.forEach(field -> names.add(field.name()));
        boolean isNew = more.stream().noneMatch(field -> names.contains(field.name()));
        return isNew && added.in(base).equals(own) ? Optional.of(added) : Optional.empty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof AddedFields that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return Objects.hash(text);
    }

    /** Returns the text form. */
    @Override
    public String toString() {
        return text;
    }
}

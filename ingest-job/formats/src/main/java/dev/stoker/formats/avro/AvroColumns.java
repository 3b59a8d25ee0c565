package dev.stoker.formats.avro;

import dev.stoker.formats.NullInListException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.ErrorText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Turns an Avro schema into columns of rows, and into a decoder for some of them. The table is in
 * {@code docs/formats/conversion.md}.
 */
final class AvroColumns {
    /** What becomes of a list whose items may be null. */
    enum OptionalItems {
        /** A list without null items. A null item is an error of its row, unless the user declares the type. */
        REFUSED,
        /** A list with null items. */
        KEPT
    }

    private final String file;
    private final Schema root;
    private final OptionalItems optionalItems;
    private final int maxDepth;
    private final long maxBytes;
    private final RowSchema schema;

    private List<RowColumn> columns = new ArrayList<>();
    private List<RefusedColumn> refused = new ArrayList<>();
    private List<RowColumn> nullLists = new ArrayList<>();

    /** Number of columns before the lists whose items have the type null. */
    private int ordinary;

    private int[] selected = {};
    private Slot[] slots = {};
    private final Set<Schema> open = Collections.newSetFromMap(new IdentityHashMap<>());

    AvroColumns(String file, Schema root, OptionalItems optionalItems, int maxDepth, long maxBytes)
            throws UnsupportedFileException {
        this.file = file;
        this.root = root;
        this.optionalItems = optionalItems;
        this.maxDepth = maxDepth;
        this.maxBytes = maxBytes;
        if (root.getType() != Schema.Type.RECORD) {
            throw new UnsupportedFileException(file + " has values of type "
                    + root.getType().getName() + " instead of records; write each value as a field of a record");
        }
        node();
        ordinary = columns.size();
        schema = new RowSchema(columns, refused, nullLists);
    }

    RowSchema rows() {
        return schema;
    }

    /**
     * A decoder.
     *
     * @param slots the slots of the selected columns
     */
    record Decoder(AvroNode root, Slot[] slots) {}

    /** Returns a decoder of some columns. */
    Decoder decoder(int[] wanted) throws UnsupportedFileException {
        selected = wanted;
        slots = new Slot[wanted.length];
        return new Decoder(node(), slots);
    }

    private AvroNode node() throws UnsupportedFileException {
        columns = new ArrayList<>();
        refused = new ArrayList<>();
        nullLists = new ArrayList<>();
        return struct(root, new Place("", false, false, 0, true, 0));
    }

    /**
     * A place in the schema.
     *
     * @param nullable whether the value, a struct around it, or the outermost list may be null
     * @param nullItem whether it, or a struct around it, is an item of the only list and may be null
     * @param lists number of lists around it
     * @param wanted false inside something that was refused
     */
    private record Place(String name, boolean nullable, boolean nullItem, int lists, boolean wanted, int depth) {
        Place field(String field) {
            String dotted = name.isEmpty() ? field : name + "." + field;
            return new Place(dotted, nullable, nullItem, lists, wanted, depth + 1);
        }

        Place orNull() {
            return new Place(name, lists == 0 || nullable, lists == 1 || nullItem, lists, wanted, depth);
        }

        Place item() {
            return new Place(name, nullable, nullItem, lists + 1, wanted, depth + 1);
        }

        /** In a union of one type. */
        Place inUnion() {
            return new Place(name, nullable, nullItem, lists, wanted, depth + 1);
        }

        Place refused() {
            return new Place(name, nullable, nullItem, lists, false, depth + 1);
        }
    }

    private AvroNode add(Schema type, Place place) throws UnsupportedFileException {
        if (place.depth() > maxDepth) {
            throw new UnsupportedFileException(
                    file + " has a schema that is nested deeper than " + maxDepth + " levels; flatten it before");
        }
        return switch (type.getType()) {
            case RECORD -> struct(type, place);
            case ARRAY -> list(null, type.getElementType(), place);
            case MAP -> list(place, type.getValueType(), place);
            case UNION -> union(type, place);
            default -> leaf(type, place);
        };
    }

    private AvroNode struct(Schema type, Place place) throws UnsupportedFileException {
        if (!open.add(type)) {
            throw new UnsupportedFileException(file + " has a record '" + type.getFullName()
                    + "' that contains itself, which rows cannot hold; flatten it before");
        }
        List<AvroNode> fields = new ArrayList<>();
        for (Schema.Field field : type.getFields()) {
            fields.add(add(field.schema(), place.field(field.name())));
        }
        open.remove(type);
        return new AvroNode.Struct(fields);
    }

    /** @param map the place if it is a map, otherwise null */
    private AvroNode list(@Nullable Place map, Schema item, Place place) throws UnsupportedFileException {
        String nullList = place.lists() == 0 ? null : NullInListException.inner(place.name());
        Place inside = place.item();
        if (map == null) {
            return new AvroNode.Array(null, add(item, inside), nullList, maxBytes);
        }
        AvroNode key = add(Schema.create(Schema.Type.STRING), inside.field("key"));
        return new AvroNode.Array(key, add(item, inside.field("value")), nullList, maxBytes);
    }

    private AvroNode union(Schema type, Place place) throws UnsupportedFileException {
        List<Schema> branches = type.getTypes();
        if (branches.isEmpty()) {
            refuse(place, type, "a union without types has no values");
            return new AvroNode.Union(List.of());
        }
        if (branches.size() == 1) {
            return new AvroNode.Union(List.of(add(branches.get(0), place.inUnion())));
        }
        int nullBranch = branches.get(0).getType() == Schema.Type.NULL ? 0 : 1;
        if (branches.size() == 2 && branches.get(nullBranch).getType() == Schema.Type.NULL) {
            return new AvroNode.OrNull(add(branches.get(1 - nullBranch), place.orNull()), nullBranch);
        }
        refuse(place, type, "values of several types cannot be stored; write a field for each");
        List<AvroNode> nodes = new ArrayList<>();
        for (Schema branch : branches) {
            nodes.add(add(branch, place.refused()));
        }
        return new AvroNode.Union(nodes);
    }

    /** Adds a list whose items have the type null. */
    private AvroNode nullList(Schema type, Place place) {
        String why = NullInListException.item(place.name());
        Slot slot = slot(place, ScalarType.UINT8, ordinary + nullLists.size());
        RowColumn list = RowSchema.nullList(place.name(), place.nullable(), AvroTypes.describe(type));
        nullLists.add(list);
        refused.add(RefusedColumn.nullList(list));
        AvroNode.Reader reader = (in, items) -> {
            if (items != null) {
                items.putNull(why);
            }
        };
        return new AvroNode.Leaf(reader, slot, why);
    }

    private AvroNode leaf(Schema type, Place place) {
        if (type.getType() == Schema.Type.NULL && place.lists() == 1 && place.wanted()) {
            return nullList(type, place);
        }
        AvroTypes.Mapping mapping = AvroTypes.map(type);
        Slot slot = null;
        if (place.wanted()) {
            try {
                FieldType field = fieldType(mapping, place);
                slot = slot(place, mapping.element(), columns.size());
                columns.add(new RowColumn(
                        place.name(),
                        field,
                        place.nullable(),
                        AvroTypes.describe(type),
                        RowColumn.Role.NONE,
                        field == ScalarType.CATEGORICAL ? type.getEnumSymbols() : List.of()));
            } catch (IllegalArgumentException e) {
                refuse(place, type, ErrorText.of(e));
            }
        }
        return new AvroNode.Leaf(
                mapping.reader(), slot, place.lists() > 0 ? NullInListException.item(place.name()) : null);
    }

    private @Nullable Slot slot(Place place, @Nullable ScalarType element, int index) {
        Slot slot = null;
        for (int i = 0; i < selected.length; i++) {
            if (selected[i] == index) {
                slots[i] = slot == null ? new Slot(place.name(), place.lists(), element, maxBytes) : slot;
                slot = slots[i];
            }
        }
        return slot;
    }

    private FieldType fieldType(AvroTypes.Mapping mapping, Place place) {
        int lists = place.lists();
        if (mapping.refusal() != null) {
            throw new IllegalArgumentException(mapping.refusal());
        }
        if (lists == 0) {
            try {
                return FieldType.parse(mapping.type());
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
        }
        ScalarType element = mapping.element();
        if (element == null) {
            throw new IllegalArgumentException(
                    "lists of " + mapping.type() + " cannot be stored; write it as a list of numbers or text");
        }
        if (lists > 2 || (lists == 2 && !element.isNumber())) {
            throw new IllegalArgumentException("a list in a list of " + (lists > 2 ? "lists" : element.canonical())
                    + " cannot be stored; flatten it before");
        }
        boolean hasNulls = optionalItems == OptionalItems.KEPT && lists == 1 && place.nullItem();
        return FieldType.parse(element.canonical() + (hasNulls ? "?[]" : "[]".repeat(lists)));
    }

    private void refuse(Place place, Schema type, String reason) {
        if (place.wanted()) {
            boolean isNull = type.getType() == Schema.Type.NULL && place.lists() == 0;
            refused.add(new RefusedColumn(place.name(), AvroTypes.describe(type), reason, isNull));
        }
    }
}

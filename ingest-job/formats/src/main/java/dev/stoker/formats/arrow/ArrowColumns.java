package dev.stoker.formats.arrow;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowColumn.Role;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.arrow.ArrowNode.ArrowType;
import dev.stoker.formats.arrow.ArrowValue.Step;
import dev.stoker.formats.huggingface.Feature;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.ErrorText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.arrow.flatbuf.Type;
import org.jspecify.annotations.Nullable;

/** Turns the fields of a schema into columns of rows. The table is in {@code docs/formats/conversion.md}. */
final class ArrowColumns {
    private final List<ArrowValue.Column> columns = new ArrayList<>();
    private final List<RefusedColumn> refused = new ArrayList<>();
    private final List<ArrowValue.Column> nullLists = new ArrayList<>();
    private final List<ArrowValue.Column> readable;

    ArrowColumns(List<ArrowNode> fields, Feature features) {
        for (int i = 0; i < fields.size(); i++) {
            ArrowNode field = fields.get(i);
            add(field, new Place(i, field.name(), List.of(), false), features.field(field.name()));
        }
        readable = Stream.concat(columns.stream(), nullLists.stream()).toList();
    }

    /** Returns the columns of rows and, behind them, the lists whose items have the type null. */
    List<ArrowValue.Column> columns() {
        return readable;
    }

    RowSchema rows() {
        return new RowSchema(
                columns.stream().map(ArrowValue.Column::column).toList(),
                refused,
                nullLists.stream().map(ArrowValue.Column::column).toList());
    }

    /** Thrown when no field type holds the values. The message is a clause. */
    private static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    /**
     * A place in the schema.
     *
     * @param root index of the field of the schema
     * @param nullable whether a struct around it, or the outermost list, is nullable
     */
    private record Place(int root, String name, List<Step> steps, boolean nullable) {
        Place then(Step step, String newName, boolean nowNullable) {
            List<Step> more = new ArrayList<>(steps);
            more.add(step);
            return new Place(root, newName, more, nowNullable);
        }

        int lists() {
            return (int) steps.stream().filter(Step::isList).count();
        }
    }

    static boolean isUuid(ArrowNode field) {
        return "arrow.uuid".equals(field.metadata().get("ARROW:extension:name"))
                && field.type().width() == 16;
    }

    private static boolean isList(ArrowNode field) {
        return field.dictionary() == null
                && switch (field.type().id()) {
                    case Type.List, Type.LargeList, Type.FixedSizeList, Type.ListView, Type.LargeListView, Type.Map ->
                        true;
                    default -> false;
                };
    }

    private void add(ArrowNode field, Place place, Feature feature) {
        boolean nullable = place.nullable() || (place.lists() == 0 && field.nullable());
        try {
            if (isList(field)) {
                if (place.lists() == 0 && tensorShape(field) != null) {
                    tensor(field, place, nullable);
                    return;
                }
                ArrowNode item = field.children().get(0);
                if (field.type().id() == Type.Map) {
                    item = entry(item);
                }
                add(item, place.then(Step.list(place.name()), place.name(), nullable), feature.items());
            } else if (field.dictionary() == null && field.type().id() == Type.Struct_) {
                struct(field, place, nullable, feature);
            } else if (field.dictionary() == null && field.type().id() == Type.Null && place.lists() == 1) {
                RowColumn list = RowSchema.nullList(place.name(), nullable, describe(field));
                nullLists.add(
                        new ArrowValue.Column(list, place.root(), place.steps(), ScalarType.UINT8, List.of(), false));
                refused.add(RefusedColumn.nullList(list));
            } else {
                leaf(field, place, nullable, feature);
            }
        } catch (RefusedException e) {
            boolean isNull = field.type().id() == Type.Null && place.lists() == 0;
            refused.add(new RefusedColumn(place.name(), describe(field), ErrorText.of(e), isNull));
        }
    }

    /** Returns the entry of a map with the names that its fields get here: the format does not fix them. */
    private static ArrowNode entry(ArrowNode entry) {
        return entry.children().size() == 2
                ? entry.withChildren(List.of(
                        entry.children().get(0).named("key"),
                        entry.children().get(1).named("value")))
                : entry;
    }

    private void struct(ArrowNode struct, Place place, boolean nullable, Feature feature) throws RefusedException {
        List<ArrowNode> fields = struct.children();
        if (fields.isEmpty()) {
            throw new RefusedException("it has no fields");
        }
        boolean payload = isPayload(fields);
        for (int i = 0; i < fields.size(); i++) {
            ArrowNode field = fields.get(i);
            String name = payload && i == 0 ? place.name() : place.name() + "." + field.name();
            Place inside = place.then(Step.field(place.name(), i, payload), name, nullable);
            if (payload) {
                payload(field, inside, i, nullable || struct.nullable(), feature);
            } else {
                add(field, inside, feature.field(field.name()));
            }
        }
    }

    private static boolean isPayload(List<ArrowNode> fields) {
        return fields.size() == 2
                && fields.get(0).name().equals("bytes")
                && fields.get(1).name().equals("path")
                && fields.stream().allMatch(field -> field.dictionary() == null)
                && List.of(Type.Binary, Type.LargeBinary, Type.BinaryView)
                        .contains(fields.get(0).type().id())
                && List.of(Type.Utf8, Type.LargeUtf8, Type.Utf8View)
                        .contains(fields.get(1).type().id());
    }

    private void payload(ArrowNode field, Place place, int index, boolean nullable, Feature feature)
            throws RefusedException {
        boolean bytes = index == 0;
        ScalarType scalar = bytes ? ScalarType.BINARY : ScalarType.UTF8;
        FieldType type = listOf(scalar, scalar, place.lists());
        boolean canBeNull = place.lists() == 0 ? nullable || field.nullable() : place.nullable();
        String source = bytes ? (feature.isFile() ? feature.type() : "struct of bytes and path") : describe(field);
        RowColumn column = new RowColumn(place.name(), type, canBeNull, source, bytes ? Role.PAYLOAD : Role.PATH);
        columns.add(new ArrowValue.Column(column, place.root(), place.steps(), scalar, List.of(), bytes));
    }

    private void leaf(ArrowNode field, Place place, boolean nullable, Feature feature) throws RefusedException {
        FieldType scalar = scalar(field);
        boolean number = scalar instanceof ScalarType type && type.isNumber();
        boolean isClass =
                feature.isClassLabel() && place.lists() == 0 && field.type().id() == Type.Int;
        ScalarType element = scalar == ScalarType.BOOL
                ? ScalarType.UINT8
                : scalar == ScalarType.CATEGORICAL
                        ? ScalarType.UTF8
                        : number || scalar == ScalarType.UTF8 || scalar == ScalarType.BINARY
                                ? (ScalarType) scalar
                                : null;
        FieldType type = isClass ? ScalarType.CATEGORICAL : listOf(scalar, element, place.lists());
        Role role = isClass ? Role.LABEL : Role.NONE;
        List<String> classes = isClass ? feature.names() : List.of();
        RowColumn column = new RowColumn(
                place.name(), type, nullable || isClass, isClass ? "ClassLabel" : describe(field), role, classes);
        columns.add(new ArrowValue.Column(column, place.root(), place.steps(), element, classes, false));
    }

    /** Returns the shape of lists of fixed size of numbers, or null if it is something else. */
    private static @Nullable List<Integer> tensorShape(ArrowNode field) {
        List<Integer> shape = new ArrayList<>();
        ArrowNode node = field;
        while (node.dictionary() == null && node.type().id() == Type.FixedSizeList) {
            if (node.type().width() < 1) {
                return null;
            }
            shape.add(node.type().width());
            node = node.children().get(0);
        }
        boolean number = node.dictionary() == null
                && (node.type().id() == Type.Int || node.type().id() == Type.FloatingPoint);
        return number && !shape.isEmpty() ? shape : null;
    }

    private void tensor(ArrowNode field, Place place, boolean nullable) throws RefusedException {
        List<Integer> shape = Objects.requireNonNull(tensorShape(field), "the caller checked the shape");
        List<Step> steps = new ArrayList<>(place.steps());
        ArrowNode leaf = field;
        while (leaf.type().id() == Type.FixedSizeList) {
            steps.add(Step.list(place.name()));
            leaf = leaf.children().get(0);
        }
        ScalarType element = (ScalarType) scalar(leaf);
        String dimensions = shape.toString();
        if ("arrow.fixed_shape_tensor".equals(field.metadata().get("ARROW:extension:name"))) {
            dimensions = declaredShape(field.metadata().get("ARROW:extension:metadata"), shape);
        }
        FieldType type = parse(element.canonical() + dimensions.replace(" ", ""));
        RowColumn column = new RowColumn(place.name(), type, nullable, describe(field), Role.NONE);
        columns.add(new ArrowValue.Column(column, place.root(), steps, element, List.of(), false));
    }

    private static String declaredShape(@Nullable String json, List<Integer> storage) throws RefusedException {
        List<Integer> shape = TensorMetadata.shape(json);
        long size = 1;
        for (int dimension : storage) {
            size *= dimension;
        }
        for (int dimension : shape) {
            size = dimension == 0 || size % dimension != 0 ? 0 : size / dimension;
        }
        if (size != 1) {
            throw new RefusedException("its shape " + shape + " is permuted or does not fit its values");
        }
        return shape.toString();
    }

    private static FieldType listOf(FieldType scalar, @Nullable ScalarType element, int lists) throws RefusedException {
        if (lists == 0) {
            return scalar;
        }
        if (element == null) {
            throw new RefusedException(
                    "lists of " + scalar.canonical() + " cannot be stored; write it as a list of numbers or text");
        }
        if (lists > 2 || (lists == 2 && !element.isNumber())) {
            throw new RefusedException("a list in a list of " + (lists > 2 ? "lists" : element.canonical())
                    + " cannot be stored; flatten it before");
        }
        return parse(element.canonical() + "[]".repeat(lists));
    }

    private static FieldType scalar(ArrowNode field) throws RefusedException {
        ArrowType type = field.type();
        return switch (type.id()) {
            case Type.Bool -> ScalarType.BOOL;
            case Type.Int ->
                ScalarType.valueOf(((type.signed() ? "int" : "uint") + 8 * type.width()).toUpperCase(Locale.ROOT));
            case Type.FloatingPoint -> ScalarType.valueOf("FLOAT" + 8 * type.width());
            case Type.Utf8, Type.LargeUtf8, Type.Utf8View ->
                field.dictionary() == null ? ScalarType.UTF8 : ScalarType.CATEGORICAL;
            case Type.Binary, Type.LargeBinary, Type.BinaryView -> ScalarType.BINARY;
            case Type.FixedSizeBinary -> isUuid(field) ? ScalarType.UTF8 : ScalarType.BINARY;
            case Type.Date -> parse("date");
            case Type.Time -> parse("time[" + type.unit() + "]");
            case Type.Timestamp ->
                parse("timestamp[" + type.unit() + (type.zone() == null ? "" : "," + type.zone()) + "]");
            case Type.Decimal -> {
                if (type.scale() < 0) {
                    throw new RefusedException(
                            "decimals of the negative scale " + type.scale() + " cannot be stored; cast it to scale 0");
                }
                yield parse("decimal(" + type.precision() + "," + type.scale() + ")");
            }
            case Type.Null -> throw new RefusedException("all its values are null");
            case Type.Duration -> throw new RefusedException("durations cannot be stored; cast it to int64");
            case Type.Interval -> throw new RefusedException("intervals cannot be stored; cast it");
            case Type.RunEndEncoded -> throw new RefusedException("runs cannot be read; decode it before");
            default ->
                throw new RefusedException("values of several types or of structs in a dictionary cannot be stored");
        };
    }

    private static FieldType parse(String type) throws RefusedException {
        try {
            return FieldType.parse(type);
        } catch (IllegalArgumentException e) {
            throw new RefusedException(ErrorText.of(e));
        }
    }

    /** Returns the type in the words of Arrow. */
    private static String describe(ArrowNode field) {
        ArrowType type = field.type();
        String name = type.id() < 0 || type.id() >= Type.names.length ? "type " + type.id() : Type.name(type.id());
        String text = switch (type.id()) {
            case Type.Int -> (type.signed() ? "int" : "uint") + 8 * type.width();
            case Type.FloatingPoint -> "float" + 8 * type.width();
            case Type.Decimal -> "decimal" + 8 * type.width() + "(" + type.precision() + ", " + type.scale() + ")";
            case Type.Time, Type.Timestamp, Type.Date ->
                name.toLowerCase(Locale.ROOT) + "[" + type.unit() + (type.zone() == null ? "" : ", tz=" + type.zone())
                        + "]";
            case Type.FixedSizeBinary, Type.FixedSizeList -> name.toLowerCase(Locale.ROOT) + "[" + type.width() + "]";
            default -> name.toLowerCase(Locale.ROOT).replace("_", "");
        };
        String extension = field.metadata().get("ARROW:extension:name");
        String described = extension == null ? text : text + " as " + extension;
        return field.dictionary() == null ? described : "dictionary of " + described;
    }
}

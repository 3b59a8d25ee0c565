package dev.stoker.formats.parquet.read;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowColumn.Role;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.formats.huggingface.Feature;
import dev.stoker.formats.parquet.column.ColumnPath;
import dev.stoker.formats.parquet.column.ColumnPath.Kind;
import dev.stoker.formats.parquet.column.ColumnPath.Node;
import dev.stoker.formats.parquet.column.ParquetColumn;
import dev.stoker.formats.parquet.column.ParquetTypes;
import dev.stoker.formats.parquet.column.ParquetTypes.RefusedException;
import dev.stoker.formats.parquet.column.Scalar;
import dev.stoker.formats.parquet.column.Scalars;
import dev.stoker.formats.parquet.page.Leaf;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.ErrorText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.VariantLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Type.Repetition;
import org.jspecify.annotations.Nullable;

/** Turns the tree of a Parquet schema into columns of rows. Leaves are counted as column chunks are. */
final class ParquetSchema {
    private final List<ParquetColumn> columns = new ArrayList<>();
    private final List<RefusedColumn> refused = new ArrayList<>();
    private final List<ParquetColumn> nullLists = new ArrayList<>();
    private final List<ParquetColumn> readable;
    private int leaves;

    ParquetSchema(MessageType message, Feature features, RestoredTypes restored) {
        Place root = new Place("", 0, new int[0], List.of(), false);
        for (Type field : message.getFields()) {
            field(field, field.getName(), root, Kind.VALUE, features.field(field.getName()));
        }
        for (int i = 0; i < columns.size(); i++) {
            RowColumn column = columns.get(i).column();
            RefusedColumn refusal = restored.refusal(column.name());
            if (refusal != null) {
                refused.add(new RefusedColumn(column.name(), refusal.sourceType(), refusal.reason()));
                columns.remove(i--);
            } else {
                columns.set(i, restored.restored(columns.get(i)));
            }
        }
        readable = Stream.concat(columns.stream(), nullLists.stream()).toList();
    }

    /** Returns the columns of rows and, behind them, the lists whose items have the type null. */
    List<ParquetColumn> columns() {
        return readable;
    }

    /** Returns the number of column chunks in each row group. */
    int leaves() {
        return leaves;
    }

    RowSchema rows() {
        return new RowSchema(
                columns.stream().map(ParquetColumn::column).toList(),
                refused,
                nullLists.stream().map(ParquetColumn::column).toList());
    }

    /**
     * A place in the tree.
     *
     * @param name dotted name
     * @param definition definition level of a value there
     * @param lists definition levels of the items of the lists around it
     * @param nodes the nodes above it that may be null
     * @param payload whether it is inside a struct of bytes and path
     */
    private record Place(String name, int definition, int[] lists, List<Node> nodes, boolean payload) {
        Place enter(Type type, String newName, Kind kind) {
            return switch (type.getRepetition()) {
                case REQUIRED -> new Place(newName, definition, lists, nodes, payload);
                case OPTIONAL -> {
                    List<Node> more = new ArrayList<>(nodes);
                    more.add(new Node(newName, kind, definition + 1));
                    yield new Place(newName, definition + 1, lists, more, payload);
                }
                case REPEATED -> repeat(newName);
            };
        }

        Place repeat(String newName) {
            int[] more = Arrays.copyOf(lists, lists.length + 1);
            more[lists.length] = definition + 1;
            return new Place(newName, definition + 1, more, nodes, payload);
        }

        Place asPayload() {
            return new Place(name, definition, lists, nodes, true);
        }

        boolean nullable() {
            return nodes.stream().anyMatch(node -> lists.length == 0 || node.definition() < lists[0]);
        }

        ColumnPath path() {
            return new ColumnPath(nodes, lists);
        }
    }

    /** Adds the columns of a node. */
    private void field(Type type, String name, Place above, Kind kind, Feature feature) {
        if (type.isPrimitive()) {
            Place place = above.enter(type, name, kind == Kind.ITEM ? Kind.ELEMENT : Kind.VALUE);
            leaf(type.asPrimitiveType(), place, feature);
            return;
        }
        GroupType group = type.asGroupType();
        LogicalTypeAnnotation logical = group.getLogicalTypeAnnotation();
        if (logical instanceof VariantLogicalTypeAnnotation) {
            refuse(group, name, "variants cannot be stored; write it as JSON text");
        } else if (isList(group)) {
            Place list = above.enter(group, name, Kind.LIST);
            items(group, list, feature.items());
        } else if (group.getFieldCount() == 0) {
            refuse(group, name, "it has no fields");
        } else {
            struct(group, above.enter(group, name, kind == Kind.ITEM ? Kind.ITEM : Kind.STRUCT), feature);
        }
    }

    private static boolean isList(GroupType group) {
        return group.getRepetition() != Repetition.REPEATED && hasListLayout(group);
    }

    private static boolean hasListLayout(GroupType group) {
        return (group.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation || isMap(group))
                && group.getFieldCount() == 1
                && group.getType(0).getRepetition() == Repetition.REPEATED;
    }

    private static boolean isMap(GroupType group) {
        LogicalTypeAnnotation logical = group.getLogicalTypeAnnotation();
        return logical instanceof MapLogicalTypeAnnotation || logical instanceof MapKeyValueTypeAnnotation;
    }

    /** Adds the columns of the items of a list or of the entries of a map, by the rules for older layouts. */
    private void items(GroupType list, Place place, Feature feature) {
        Type repeated = list.getType(0);
        Place item = place.repeat(place.name());
        if (repeated.isPrimitive()) {
            leaf(repeated.asPrimitiveType(), item, feature);
            return;
        }
        GroupType group = repeated.asGroupType();
        boolean struct = !(list.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation)
                || group.getFieldCount() != 1
                || group.getType(0).getRepetition() == Repetition.REPEATED
                || group.getName().equals("array")
                || group.getName().equals(list.getName() + "_tuple");
        if (struct && list.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation && hasListLayout(group)) {
            // In the layout of two levels, the repeated node of a list is itself the list inside it.
            items(group, item, feature.items());
        } else if (isMap(list) && group.getFieldCount() == 2) {
            entries(group, item, feature);
        } else if (struct) {
            struct(group, item, feature);
        } else {
            field(group.getType(0), place.name(), item, Kind.ITEM, feature);
        }
    }

    /** Adds the columns of the entries of a map. The format does not fix the names of their fields. */
    private void entries(GroupType entry, Place place, Feature feature) {
        String[] names = {"key", "value"};
        for (int i = 0; i < names.length; i++) {
            Type field = entry.getType(i);
            field(field, place.name() + "." + names[i], place, Kind.VALUE, feature.field(field.getName()));
        }
    }

    private void struct(GroupType group, Place place, Feature feature) {
        if (isPayload(group)) {
            payload(group, place, feature);
            return;
        }
        for (Type field : group.getFields()) {
            String name = place.name() + "." + field.getName();
            field(field, name, place, Kind.VALUE, feature.field(field.getName()));
        }
    }

    private static boolean isPayload(GroupType group) {
        if (group.getFieldCount() != 2) {
            return false;
        }
        Type bytes = group.getType(0);
        Type path = group.getType(1);
        return bytes.getName().equals("bytes")
                && path.getName().equals("path")
                && bytes.isPrimitive()
                && path.isPrimitive()
                && bytes.getRepetition() != Repetition.REPEATED
                && path.getRepetition() != Repetition.REPEATED
                && bytes.asPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.BINARY
                && path.asPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.BINARY
                && path.getLogicalTypeAnnotation() != null;
    }

    /** Adds the column of the bytes, with the name of the struct, and the column of the path. */
    private void payload(GroupType group, Place struct, Feature feature) {
        Place place = struct.asPayload();
        Place bytesPlace = place.enter(group.getType(0), place.name(), Kind.VALUE);
        Place pathPlace = place.enter(group.getType(1), place.name() + ".path", Kind.VALUE);
        int first = leaves;
        PrimitiveType bytes = group.getType(0).asPrimitiveType();
        PrimitiveType path = group.getType(1).asPrimitiveType();
        leaves += 2;
        String source = feature.isFile() ? feature.type() : "struct of bytes and path";
        ParquetColumn.Source bytesSource = source(bytes, bytesPlace, first);
        ParquetColumn.Source pathSource = source(path, pathPlace, first + 1);
        boolean list = place.lists().length > 0;
        add(bytesPlace, ScalarType.BINARY, source, Role.PAYLOAD, bytesSource, List.of(), list ? null : pathSource);
        add(pathPlace, ScalarType.UTF8, ParquetTypes.describe(path), Role.PATH, pathSource, List.of(), null);
    }

    private static ParquetColumn.Source source(PrimitiveType type, Place place, int index) {
        Leaf leaf = new Leaf(index, place.name(), type, place.definition(), place.lists().length);
        return new ParquetColumn.Source(leaf, place.path());
    }

    private void add(
            Place place,
            ScalarType element,
            String description,
            Role role,
            ParquetColumn.Source source,
            List<String> classes,
            ParquetColumn.@Nullable Source file) {
        try {
            FieldType type = listOf(element, element, place.lists().length);
            boolean nullable =
                    place.nullable() || (place.payload() && !place.nodes().isEmpty());
            RowColumn column = new RowColumn(place.name(), type, nullable, description, role);
            columns.add(new ParquetColumn(column, source, Scalars.Bytes::new, classes, file));
        } catch (RefusedException e) {
            refused.add(new RefusedColumn(place.name(), description, ErrorText.of(e)));
        }
    }

    private void leaf(PrimitiveType type, Place place, Feature feature) {
        int index = leaves++;
        String description = ParquetTypes.describe(type);
        boolean isNull = type.getLogicalTypeAnnotation() instanceof UnknownLogicalTypeAnnotation;
        if (isNull && place.lists().length == 1) {
            RowColumn list = RowSchema.nullList(place.name(), place.nullable(), description);
            nullLists.add(new ParquetColumn(list, source(type, place, index), Scalars.Nothing::new, List.of(), null));
            refused.add(RefusedColumn.nullList(list));
            return;
        }
        try {
            Scalar.Mapping mapping = ParquetTypes.map(type);
            int lists = place.lists().length;
            boolean isClass = feature.isClassLabel()
                    && lists == 0
                    && mapping.type() instanceof ScalarType scalar
                    && scalar.isInteger();
            FieldType field = isClass ? ScalarType.CATEGORICAL : listOf(mapping.type(), mapping.element(), lists);
            List<String> classes = isClass ? feature.names() : List.of();
            RowColumn column = new RowColumn(
                    place.name(),
                    field,
                    place.nullable() || isClass,
                    isClass ? "ClassLabel" : description,
                    isClass ? Role.LABEL : Role.NONE,
                    classes);
            columns.add(new ParquetColumn(column, source(type, place, index), mapping.maker(), classes, null));
        } catch (RefusedException e) {
            boolean isFree = isNull && place.lists().length == 0;
            refused.add(new RefusedColumn(place.name(), description, ErrorText.of(e), isFree));
        }
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
        try {
            return FieldType.parse(element.canonical() + "[]".repeat(lists));
        } catch (IllegalArgumentException e) {
            throw new RefusedException(e.getMessage() + "");
        }
    }

    private void refuse(GroupType group, String name, String reason) {
        leaves += countLeaves(group);
        refused.add(new RefusedColumn(name, "group " + group.getLogicalTypeAnnotation(), reason));
    }

    private static int countLeaves(Type type) {
        if (type.isPrimitive()) {
            return 1;
        }
        int count = 0;
        for (Type field : type.asGroupType().getFields()) {
            count += countLeaves(field);
        }
        return count;
    }
}

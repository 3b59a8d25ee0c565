package dev.stoker.schemas.arrow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Type;
import org.jspecify.annotations.Nullable;

/**
 * Reads the Schema table of a file's flatbuffer. Accepts the types that Stoker writes, from any writer. Class names of
 * a categorical column are the dictionary with the column's number.
 */
final class SchemaReader {

    private final FlatReader in;
    private final String file;

    SchemaReader(FlatReader in, String file) {
        this.in = in;
        this.file = file;
    }

    ArrowSchema read(int schema) throws StokerException {
        if (in.i16Field(schema, 0) != 0) {
            throw new ForeignFileException(file, "a little-endian Arrow file", "its schema says big-endian");
        }
        Map<String, String> metadata = pairs(in.reference(schema, 2));
        checkFeatures(metadata);
        int vector = in.reference(schema, 1);
        int count = in.vectorLength(vector, 4);
        List<ArrowField> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            fields.add(field(in.element(vector, i), i));
        }
        return new ArrowSchema(fields, metadata);
    }

    /** Checks the features before the columns, because a file with an unknown feature may have unknown types. */
    private void checkFeatures(Map<String, String> metadata) throws StokerException {
        try {
            Requires.check(metadata, file);
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(file + " is corrupt: " + e.getMessage(), e);
        }
    }

    /** Key-value pairs of a vector; later ones of equal keys are corrupt. */
    Map<String, String> pairs(int vector) throws StokerException {
        int count = in.vectorLength(vector, 4);
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            int pair = in.element(vector, i);
            String key = in.string(pair, 0);
            String value = in.string(pair, 1);
            if (key == null || pairs.put(key, value == null ? "" : value) != null) {
                throw in.corrupt("metadata key " + key + " is missing or stands twice");
            }
        }
        return pairs;
    }

    private ArrowField field(int table, int column) throws StokerException {
        String name = in.string(table, 0);
        Map<String, String> metadata = pairs(in.reference(table, 6));
        if (name == null) {
            throw in.corrupt("a column has no name");
        }
        int dictionary = in.reference(table, 4);
        boolean nullable = in.booleanField(table, 1);
        if (dictionary != 0) {
            checkDictionary(table, dictionary, column, name);
            return new ArrowField(name, ScalarType.CATEGORICAL, nullable, metadata);
        }
        FieldType type = type(table, name, metadata);
        ArrowField read = new ArrowField(name, type, nullable, Map.of());
        for (String key : SchemaFlatbuffer.writtenMetadata(read).keySet()) {
            metadata.remove(key);
        }
        return new ArrowField(name, type, read.nullable(), metadata);
    }

    private void checkDictionary(int table, int dictionary, int column, String name) throws StokerException {
        int value = in.reference(table, 3);
        int index = in.reference(dictionary, 1);
        boolean indices = index == 0 || (in.i32Field(index, 0, 0) == 32 && in.booleanField(index, 1));
        if (value == 0 || scalar(table, in.u8Field(table, 2), value, name, null) != ScalarType.UTF8 || !indices) {
            throw unsupported(name, "a dictionary other than utf8 with indices of int32");
        }
        if (in.booleanField(dictionary, 2) || in.i16Field(dictionary, 3) != 0) {
            throw unsupported(name, "an ordered or sparse dictionary");
        }
        if (in.i64Field(dictionary, 0) != column) {
            throw unsupported(name, "the dictionary " + in.i64Field(dictionary, 0) + " instead of " + column);
        }
    }

    private FieldType type(int table, String name, Map<String, String> metadata) throws StokerException {
        int code = in.u8Field(table, 2);
        int type = in.reference(table, 3);
        if (type == 0) {
            throw in.corrupt("column " + name + " has no type");
        }
        String stated = metadata.get(SchemaFlatbuffer.TYPE_KEY);
        if (code == Type.List) {
            return list(table, name, stated);
        }
        if (code == Type.FixedSizeList) {
            return tensor(table, type, name, metadata, stated);
        }
        if (code == Type.FixedSizeBinary) {
            int width = in.i32Field(type, 0, 0);
            if (width < 1) {
                throw unsupported(name, "a fixed-size binary of width " + width);
            }
            return new FixedBinaryType(width);
        }
        if (code == Type.Timestamp || code == Type.Time || code == Type.Decimal) {
            noChildren(table, name);
            return parametrized(code, type, name);
        }
        return scalar(table, code, type, name, stated);
    }

    private FieldType list(int table, String name, @Nullable String stated) throws StokerException {
        int child = child(table, name);
        int type = in.reference(child, 3);
        if (type == 0) {
            throw in.corrupt("the items of column " + name + " have no type");
        }
        int code = in.u8Field(child, 2);
        boolean nullItems = in.booleanField(child, 1);
        if (code == Type.List) {
            if (nullItems || in.booleanField(child(child, name), 1)) {
                throw unsupported(name, "nullable items in nested lists");
            }
            return new ListType(new ListType(number(child(child, name), name, stated)));
        }
        ScalarType item = scalar(child, code, type, name, stated);
        boolean isBytes = item == ScalarType.UTF8 || item == ScalarType.BINARY;
        if (!isBytes && !item.isNumber()) {
            throw unsupported(name, "a list of " + item);
        }
        return new ListType(item, nullItems);
    }

    private FieldType parametrized(int code, int type, String name) throws StokerException {
        try {
            if (code == Type.Decimal) {
                int bits = in.i32Field(type, 2, DecimalType.WIDTH * 8);
                if (bits != DecimalType.WIDTH * 8) {
                    throw unsupported(name, "a decimal of " + bits + " bits");
                }
                return new DecimalType(in.i32Field(type, 0, 0), in.i32Field(type, 1, 0));
            }
            if (code == Type.Timestamp) {
                String zone = in.string(type, 1);
                Optional<String> present = Optional.ofNullable(zone).filter(text -> !text.isEmpty());
                return new TimestampType(unit(in.i16Field(type, 0, TimeUnit.SECOND), name), present);
            }
            TimeType time = new TimeType(unit(in.i16Field(type, 0, TimeUnit.MILLISECOND), name));
            if (in.i32Field(type, 1, 32) != time.width() * 8) {
                throw in.corrupt("column " + name + " has times of " + in.i32Field(type, 1, 32) + " bits in " + time);
            }
            return time;
        } catch (IllegalArgumentException e) {
            throw unsupported(name, ErrorText.of(e));
        }
    }

    private TimeResolution unit(int code, String name) throws StokerException {
        if (code < 0 || code >= TimeResolution.values().length) {
            throw in.corrupt("column " + name + " has the unknown time unit " + code);
        }
        return TimeResolution.values()[code];
    }

    private void noChildren(int table, String name) throws StokerException {
        if (in.vectorLength(in.reference(table, 5), 4) != 0) {
            throw in.corrupt("column " + name + " of a type without children has some");
        }
    }

    private ScalarType scalar(int table, int code, int type, String name, @Nullable String stated)
            throws StokerException {
        noChildren(table, name);
        return switch (code) {
            case Type.Bool -> ScalarType.BOOL;
            case Type.Utf8 -> ScalarType.UTF8;
            case Type.Binary -> ScalarType.BINARY;
            case Type.FloatingPoint ->
                switch (in.i16Field(type, 0)) {
                    case Precision.HALF -> ScalarType.FLOAT16;
                    case Precision.SINGLE -> ScalarType.FLOAT32;
                    case Precision.DOUBLE -> ScalarType.FLOAT64;
                    default -> throw in.corrupt("column " + name + " has an unknown precision");
                };
            case Type.Date -> {
                if (in.i16Field(type, 0, DateUnit.MILLISECOND) != DateUnit.DAY) {
                    throw unsupported(name, "a date in milliseconds");
                }
                yield ScalarType.DATE;
            }
            case Type.Int -> integer(in.i32Field(type, 0, 0), in.booleanField(type, 1), name, stated);
            default -> throw unsupported(name, "the Arrow type " + (code < Type.names.length ? Type.name(code) : code));
        };
    }

    private ScalarType integer(int bits, boolean signed, String name, @Nullable String stated) throws StokerException {
        if (ScalarType.CATEGORICAL.canonical().equals(stated)) {
            throw unsupported(name, "class ids without a dictionary");
        }
        if (stated != null && bits == 16 && !signed && stated.startsWith(ScalarType.BFLOAT16.canonical())) {
            return ScalarType.BFLOAT16;
        }
        return switch (bits) {
            case 8 -> signed ? ScalarType.INT8 : ScalarType.UINT8;
            case 16 -> signed ? ScalarType.INT16 : ScalarType.UINT16;
            case 32 -> signed ? ScalarType.INT32 : ScalarType.UINT32;
            case 64 -> signed ? ScalarType.INT64 : ScalarType.UINT64;
            default -> throw in.corrupt("column " + name + " has integers of " + bits + " bits");
        };
    }

    private FieldType tensor(int table, int type, String name, Map<String, String> metadata, @Nullable String stated)
            throws StokerException {
        if (!SchemaFlatbuffer.TENSOR_EXTENSION.equals(metadata.get(SchemaFlatbuffer.EXTENSION_NAME))) {
            throw unsupported(name, "a fixed-size list that is no " + SchemaFlatbuffer.TENSOR_EXTENSION);
        }
        ScalarType element = number(child(table, name), name, stated);
        List<Integer> shape = shape(name, metadata.get(SchemaFlatbuffer.EXTENSION_METADATA));
        TensorType tensor;
        try {
            tensor = new TensorType(element, shape);
        } catch (IllegalArgumentException e) {
            throw unsupported(name, ErrorText.of(e));
        }
        if (tensor.size() != in.i32Field(type, 0, 0)) {
            throw in.corrupt("column " + name + " has rows of " + in.i32Field(type, 0, 0) + " elements for shape "
                    + tensor.shape());
        }
        return tensor;
    }

    private List<Integer> shape(String name, @Nullable String json) throws StokerException {
        List<Integer> shape = new ArrayList<>();
        try {
            JsonNode tree = Json.PLAIN.readTree(json == null ? "" : json);
            if (tree.has("permutation")) {
                throw unsupported(name, "a permuted tensor");
            }
            for (JsonNode dimension : tree.path("shape")) {
                shape.add(dimension.isInt() ? dimension.intValue() : 0);
            }
        } catch (StokerException e) {
            throw e;
        } catch (IOException e) {
            throw new CorruptDataException(
                    file + ": column " + name + " has the tensor metadata '" + json
                            + "'; expected {\"shape\":[…]}; write the file again",
                    e);
        }
        return shape;
    }

    private int child(int table, String name) throws StokerException {
        int children = in.reference(table, 5);
        if (in.vectorLength(children, 4) != 1) {
            throw in.corrupt("column " + name + " has " + in.vectorLength(children, 4) + " children instead of 1");
        }
        int child = in.element(children, 0);
        if (in.reference(child, 4) != 0) {
            throw unsupported(name, "a dictionary");
        }
        return child;
    }

    private ScalarType number(int child, String name, @Nullable String stated) throws StokerException {
        int type = in.reference(child, 3);
        if (type == 0) {
            throw in.corrupt("the elements of column " + name + " have no type");
        }
        ScalarType element = scalar(child, in.u8Field(child, 2), type, name, stated);
        if (!element.isNumber()) {
            throw unsupported(name, "a list of " + element);
        }
        return element;
    }

    private ForeignFileException unsupported(String name, String found) {
        return new ForeignFileException(
                file, "an Arrow file with the types that Stoker writes", "column " + name + " has " + found);
    }
}

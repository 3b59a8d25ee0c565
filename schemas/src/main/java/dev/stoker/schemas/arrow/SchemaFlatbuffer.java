package dev.stoker.schemas.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FixedBinaryType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.arrow.flatbuf.Binary;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Bool;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Utf8;
import org.jspecify.annotations.Nullable;

/**
 * Writes the flatbuffers of schema messages and footers. The order of the calls determines the bytes and is part of the
 * format: see {@code docs/formats/chunk.md}.
 */
final class SchemaFlatbuffer {
    static final String TYPE_KEY = "stoker.type";
    static final String EXTENSION_NAME = "ARROW:extension:name";
    static final String EXTENSION_METADATA = "ARROW:extension:metadata";
    static final String TENSOR_EXTENSION = "arrow.fixed_shape_tensor";
    static final String CHILD = "item";

    private static final int INITIAL_BYTES = 1024;

    private SchemaFlatbuffer() {}

    /** Returns the flatbuffer of a file's schema message. Categorical columns are dictionaries. */
    static byte[] fileMessage(ArrowSchema schema) {
        return message(schema, true);
    }

    /** Returns the flatbuffer of a stream's schema message. Categorical columns are ids of classes. */
    static byte[] streamMessage(ArrowSchema schema) {
        return message(schema, false);
    }

    private static byte[] message(ArrowSchema schema, boolean dictionaries) {
        FlatBufferBuilder builder = new FlatBufferBuilder(INITIAL_BYTES);
        int header = schema(builder, schema, dictionaries);
        Message.startMessage(builder);
        Message.addVersion(builder, MetadataVersion.V5);
        Message.addHeaderType(builder, MessageHeader.Schema);
        Message.addHeader(builder, header);
        builder.finish(Message.endMessage(builder));
        return builder.sizedByteArray();
    }

    /** Returns the flatbuffer of a footer with one record batch. */
    static byte[] footer(ArrowFooter footer) {
        return footer(footer.schema(), footer.dictionaries(), List.of(footer.recordBatch()), footer.metadata());
    }

    /** Returns the flatbuffer of a footer with any number of record batches. */
    static byte[] footer(
            ArrowSchema schema,
            List<ArrowFooter.Block> dictionaryBlocks,
            List<ArrowFooter.Block> batchBlocks,
            Map<String, String> custom) {
        FlatBufferBuilder builder = new FlatBufferBuilder(INITIAL_BYTES);
        int header = schema(builder, schema, true);
        Footer.startDictionariesVector(builder, dictionaryBlocks.size());
        for (int i = dictionaryBlocks.size() - 1; i >= 0; i--) {
            block(builder, dictionaryBlocks.get(i));
        }
        int dictionaries = builder.endVector();
        Footer.startRecordBatchesVector(builder, batchBlocks.size());
        for (int i = batchBlocks.size() - 1; i >= 0; i--) {
            block(builder, batchBlocks.get(i));
        }
        int batches = builder.endVector();
        int pairs = metadata(builder, custom);
        Footer.startFooter(builder);
        Footer.addVersion(builder, MetadataVersion.V5);
        Footer.addSchema(builder, header);
        Footer.addDictionaries(builder, dictionaries);
        Footer.addRecordBatches(builder, batches);
        if (pairs != 0) {
            Footer.addCustomMetadata(builder, pairs);
        }
        builder.finish(Footer.endFooter(builder));
        return builder.sizedByteArray();
    }

    private static void block(FlatBufferBuilder builder, ArrowFooter.Block block) {
        Block.createBlock(builder, block.position(), block.headLength(), block.bodyLength());
    }

    private static int schema(FlatBufferBuilder builder, ArrowSchema schema, boolean dictionaries) {
        int[] fields = new int[schema.fields().size()];
        for (int i = 0; i < fields.length; i++) {
            ArrowField field = schema.fields().get(i);
            boolean dictionary = dictionaries && field.type() == ScalarType.CATEGORICAL;
            fields[i] = dictionary ? dictionaryField(builder, field, i) : field(builder, field);
        }
        int vector = Schema.createFieldsVector(builder, fields);
        int pairs = metadata(builder, schema.metadata());
        Schema.startSchema(builder);
        Schema.addFields(builder, vector);
        if (pairs != 0) {
            Schema.addCustomMetadata(builder, pairs);
        }
        return Schema.endSchema(builder);
    }

    private static int field(FlatBufferBuilder builder, ArrowField field) {
        int[] child = children(builder, field.type());
        return field(builder, field.name(), field.nullable(), field.type(), child, writtenMetadata(field));
    }

    private static int[] children(FlatBufferBuilder builder, FieldType type) {
        FieldType item = item(type);
        if (item == null) {
            return new int[0];
        }
        int[] child = children(builder, item);
        return new int[] {field(builder, CHILD, type.hasNullItems(), item, child, Map.of())};
    }

    /** Returns the field of a column whose rows refer to class names by int32 indices. */
    private static int dictionaryField(FlatBufferBuilder builder, ArrowField field, int column) {
        int name = builder.createString(field.name());
        int type = type(builder, ScalarType.UTF8);
        int index = Int.createInt(builder, ScalarType.CATEGORICAL.width() * 8, true);
        DictionaryEncoding.startDictionaryEncoding(builder);
        DictionaryEncoding.addId(builder, column);
        DictionaryEncoding.addIndexType(builder, index);
        int dictionary = DictionaryEncoding.endDictionaryEncoding(builder);
        int[] parts = {name, type, dictionary};
        return field(builder, parts, field.nullable(), ScalarType.UTF8, new int[0], field.metadata());
    }

    private static int field(
            FlatBufferBuilder builder,
            String name,
            boolean nullable,
            FieldType type,
            int[] children,
            Map<String, String> metadata) {
        int[] parts = {builder.createString(name), type(builder, type), 0};
        return field(builder, parts, nullable, type, children, metadata);
    }

    /** Returns the field with these offsets of name, type and dictionary encoding. */
    private static int field(
            FlatBufferBuilder builder,
            int[] parts,
            boolean nullable,
            FieldType type,
            int[] children,
            Map<String, String> metadata) {
        int childrenOffset = org.apache.arrow.flatbuf.Field.createChildrenVector(builder, children);
        int pairs = metadata(builder, metadata);
        org.apache.arrow.flatbuf.Field.startField(builder);
        org.apache.arrow.flatbuf.Field.addName(builder, parts[0]);
        org.apache.arrow.flatbuf.Field.addNullable(builder, nullable);
        org.apache.arrow.flatbuf.Field.addTypeType(builder, typeCode(type));
        org.apache.arrow.flatbuf.Field.addType(builder, parts[1]);
        if (parts[2] != 0) {
            org.apache.arrow.flatbuf.Field.addDictionary(builder, parts[2]);
        }
        org.apache.arrow.flatbuf.Field.addChildren(builder, childrenOffset);
        if (pairs != 0) {
            org.apache.arrow.flatbuf.Field.addCustomMetadata(builder, pairs);
        }
        return org.apache.arrow.flatbuf.Field.endField(builder);
    }

    private static int type(FlatBufferBuilder builder, FieldType type) {
        if (type instanceof FixedBinaryType fixed) {
            return FixedSizeBinary.createFixedSizeBinary(builder, fixed.width());
        }
        if (type instanceof TensorType tensor) {
            return FixedSizeList.createFixedSizeList(builder, tensor.size());
        }
        if (type instanceof TimestampType timestamp) {
            int zone = timestamp.zone().map(builder::createString).orElse(0);
            return Timestamp.createTimestamp(builder, (short) timestamp.unit().ordinal(), zone);
        }
        if (type instanceof TimeType time) {
            return Time.createTime(builder, (short) time.unit().ordinal(), time.width() * 8);
        }
        if (type instanceof DecimalType decimal) {
            return Decimal.createDecimal(builder, decimal.precision(), decimal.scale(), DecimalType.WIDTH * 8);
        }
        if (type instanceof ListType) {
            org.apache.arrow.flatbuf.List.startList(builder);
            return org.apache.arrow.flatbuf.List.endList(builder);
        }
        return scalarType(builder, (ScalarType) type);
    }

    private static int scalarType(FlatBufferBuilder builder, ScalarType scalar) {
        return switch (scalar) {
            case BOOL -> {
                Bool.startBool(builder);
                yield Bool.endBool(builder);
            }
            case UTF8 -> {
                Utf8.startUtf8(builder);
                yield Utf8.endUtf8(builder);
            }
            case BINARY -> {
                Binary.startBinary(builder);
                yield Binary.endBinary(builder);
            }
            case DATE -> Date.createDate(builder, DateUnit.DAY);
            case FLOAT16 -> FloatingPoint.createFloatingPoint(builder, Precision.HALF);
            case FLOAT32 -> FloatingPoint.createFloatingPoint(builder, Precision.SINGLE);
            case FLOAT64 -> FloatingPoint.createFloatingPoint(builder, Precision.DOUBLE);
            default -> Int.createInt(builder, scalar.width() * 8, isSigned(scalar));
        };
    }

    private static boolean isSigned(ScalarType scalar) {
        return switch (scalar) {
            case INT8, INT16, INT32, INT64, CATEGORICAL -> true;
            default -> false;
        };
    }

    private static byte typeCode(FieldType type) {
        if (type instanceof ScalarType scalar) {
            return switch (scalar) {
                case BOOL -> Type.Bool;
                case UTF8 -> Type.Utf8;
                case BINARY -> Type.Binary;
                case DATE -> Type.Date;
                case FLOAT16, FLOAT32, FLOAT64 -> Type.FloatingPoint;
                default -> Type.Int;
            };
        }
        if (type instanceof FixedBinaryType) {
            return Type.FixedSizeBinary;
        }
        if (type instanceof TimestampType) {
            return Type.Timestamp;
        }
        if (type instanceof TimeType) {
            return Type.Time;
        }
        if (type instanceof DecimalType) {
            return Type.Decimal;
        }
        return type instanceof TensorType ? Type.FixedSizeList : Type.List;
    }

    /** Returns the type of the child; null for a type without one. */
    private static @Nullable FieldType item(FieldType type) {
        if (type instanceof ListType list) {
            return list.item();
        }
        return type instanceof TensorType tensor ? tensor.element() : null;
    }

    private static boolean isBfloat16(@Nullable FieldType type) {
        return type == ScalarType.BFLOAT16 || (type != null && isBfloat16(item(type)));
    }

    /** {@code stoker.type} where Arrow's type does not tell it, the tensor extension, then the field's own pairs. */
    static Map<String, String> writtenMetadata(ArrowField field) {
        Map<String, String> pairs = new LinkedHashMap<>();
        FieldType type = field.type();
        if (type == ScalarType.CATEGORICAL || isBfloat16(type)) {
            pairs.put(TYPE_KEY, type.canonical());
        }
        if (type instanceof TensorType tensor) {
            pairs.put(EXTENSION_NAME, TENSOR_EXTENSION);
            pairs.put(EXTENSION_METADATA, shapeJson(tensor));
        }
        for (Map.Entry<String, String> own : field.metadata().entrySet()) {
            if (pairs.put(own.getKey(), own.getValue()) != null) {
                throw new IllegalArgumentException("metadata key " + own.getKey() + " follows from the type");
            }
        }
        return pairs;
    }

    static String shapeJson(TensorType tensor) {
        return tensor.shape().stream().map(String::valueOf).collect(Collectors.joining(",", "{\"shape\":[", "]}"));
    }

    private static int metadata(FlatBufferBuilder builder, Map<String, String> metadata) {
        if (metadata.isEmpty()) {
            return 0;
        }
        List<Integer> pairs = new ArrayList<>();
        for (Map.Entry<String, String> pair : metadata.entrySet()) {
            int key = builder.createString(pair.getKey());
            int value = builder.createString(pair.getValue());
            pairs.add(KeyValue.createKeyValue(builder, key, value));
        }
        builder.startVector(4, pairs.size(), 4);
        for (int i = pairs.size() - 1; i >= 0; i--) {
            builder.addOffset(pairs.get(i));
        }
        return builder.endVector();
    }
}

package dev.stoker.formats.arrow;

import dev.stoker.formats.arrow.ArrowNode.ArrowType;
import dev.stoker.formats.arrow.ArrowNode.DictionaryIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;

/** Reads the fields of a schema. Bounds their depth and number, as offsets in a damaged file can form cycles. */
final class ArrowSchemaReader {
    private final int maxDepth;
    private int left;

    /**
     * @param maxDepth levels of nesting
     * @param bytes length of the schema, which bounds the number of fields
     */
    ArrowSchemaReader(int maxDepth, int bytes) {
        this.maxDepth = maxDepth;
        this.left = bytes;
    }

    /** Exceptions have a clause as their message, and any RuntimeException means a damaged schema. */
    List<ArrowNode> fields(Schema schema) throws IOException {
        count(schema.fieldsLength());
        List<ArrowNode> fields = new ArrayList<>();
        for (int i = 0; i < schema.fieldsLength(); i++) {
            fields.add(field(schema.fields(i), 1));
        }
        return fields;
    }

    Map<String, String> metadata(Schema schema) throws IOException {
        count(schema.customMetadataLength());
        Map<String, String> metadata = new HashMap<>();
        for (int i = 0; i < schema.customMetadataLength(); i++) {
            KeyValue entry = schema.customMetadata(i);
            metadata.put(entry.key(), entry.value());
        }
        return metadata;
    }

    private void count(int more) throws IOException {
        left -= more;
        if (more < 0 || left < 0) {
            throw new IOException("its schema declares more fields than it has bytes");
        }
    }

    private ArrowNode field(Field field, int depth) throws IOException {
        if (depth > maxDepth) {
            throw new IOException("its schema is nested deeper than " + maxDepth + " levels");
        }
        count(field.childrenLength());
        count(field.customMetadataLength());
        List<ArrowNode> children = new ArrayList<>();
        for (int i = 0; i < field.childrenLength(); i++) {
            children.add(field(field.children(i), depth + 1));
        }
        Map<String, String> metadata = new HashMap<>();
        for (int i = 0; i < field.customMetadataLength(); i++) {
            metadata.put(field.customMetadata(i).key(), field.customMetadata(i).value());
        }
        DictionaryEncoding encoding = field.dictionary();
        DictionaryIndex dictionary = encoding == null ? null : new DictionaryIndex(encoding.id(), index(encoding));
        ArrowType type = type(field);
        checkChildren(type, children.size());
        String name = field.name() == null ? "" : field.name();
        return new ArrowNode(name, field.nullable(), type, children, dictionary, metadata);
    }

    private static void checkChildren(ArrowType type, int children) throws IOException {
        boolean right = switch (type.id()) {
            case Type.List, Type.LargeList, Type.FixedSizeList, Type.ListView, Type.LargeListView, Type.Map ->
                children == 1;
            case Type.Struct_, Type.Union -> true;
            case Type.RunEndEncoded -> children == 2;
            default -> children == 0;
        };
        if (!right) {
            throw new IOException("a field of type " + type.id() + " has " + children + " children");
        }
    }

    private static ArrowType index(DictionaryEncoding encoding) throws IOException {
        Int index = encoding.indexType();
        return index == null
                ? new ArrowType(Type.Int, 4, true, "", 0, 0, null)
                : new ArrowType(Type.Int, bytes(index.bitWidth()), index.isSigned(), "", 0, 0, null);
    }

    private static int bytes(int bits) throws IOException {
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
            throw new IOException("a number has " + bits + " bits");
        }
        return bits / 8;
    }

    private static ArrowType type(Field field) throws IOException {
        byte id = field.typeType();
        return switch (id) {
            case Type.Int -> {
                Int type = (Int) field.type(new Int());
                yield new ArrowType(id, bytes(type.bitWidth()), type.isSigned(), "", 0, 0, null);
            }
            case Type.FloatingPoint -> {
                int precision = ((FloatingPoint) field.type(new FloatingPoint())).precision();
                if (precision < 0 || precision > 2) {
                    throw new IOException("a floating-point number has precision " + precision);
                }
                yield ArrowType.of(id, 2 << precision);
            }
            case Type.Decimal -> {
                Decimal type = (Decimal) field.type(new Decimal());
                int bits = type.bitWidth();
                if (bits != 32 && bits != 64 && bits != 128 && bits != 256) {
                    throw new IOException("a decimal has " + bits + " bits");
                }
                yield new ArrowType(id, bits / 8, true, "", type.precision(), type.scale(), null);
            }
            case Type.Date -> {
                boolean days = ((Date) field.type(new Date())).unit() == DateUnit.DAY;
                yield new ArrowType(id, days ? 4 : 8, true, days ? "day" : "ms", 0, 0, null);
            }
            case Type.Time -> {
                Time type = (Time) field.type(new Time());
                yield new ArrowType(id, bytes(type.bitWidth()), true, unit(type.unit()), 0, 0, null);
            }
            case Type.Timestamp -> {
                Timestamp type = (Timestamp) field.type(new Timestamp());
                String zone = type.timezone() == null || type.timezone().isEmpty() ? null : type.timezone();
                yield new ArrowType(id, 8, true, unit(type.unit()), 0, 0, zone);
            }
            case Type.FixedSizeBinary -> sized(id, ((FixedSizeBinary) field.type(new FixedSizeBinary())).byteWidth());
            case Type.FixedSizeList -> sized(id, ((FixedSizeList) field.type(new FixedSizeList())).listSize());
            default -> ArrowType.of(id);
        };
    }

    private static ArrowType sized(byte id, int size) throws IOException {
        if (size < 0) {
            throw new IOException("a field has the fixed size " + size);
        }
        return ArrowType.of(id, size);
    }

    private static String unit(short unit) throws IOException {
        return switch (unit) {
            case TimeUnit.SECOND -> "s";
            case TimeUnit.MILLISECOND -> "ms";
            case TimeUnit.MICROSECOND -> "us";
            case TimeUnit.NANOSECOND -> "ns";
            default -> throw new IOException("a time has the unknown unit " + unit);
        };
    }
}

package dev.stoker.formats.mds;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowColumn.Role;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.RowSchema.RefusedColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Says which type a column has by its encoding. */
final class MdsColumns {
    private static final Pattern JPEG_OF_QUALITY = Pattern.compile("jpeg:[0-9]{1,3}");

    private MdsColumns() {}

    /**
     * Returns the columns.
     *
     * @param first the values of the first sample, or null if there is none
     */
    static RowSchema schema(MdsConfig config, ByteBuffer @Nullable [] first) {
        List<RowColumn> columns = new ArrayList<>();
        List<RefusedColumn> refused = new ArrayList<>();
        for (int i = 0; i < config.names().size(); i++) {
            String name = config.names().get(i);
            String encoding = config.encodings().get(i);
            FieldType type = type(encoding, first == null ? null : first[i]);
            if (type == null) {
                refused.add(new RefusedColumn(name, encoding, reason(encoding)));
            } else {
                boolean image = isJpeg(encoding) || encoding.equals("png");
                columns.add(new RowColumn(name, type, false, encoding, image ? Role.PAYLOAD : Role.NONE));
            }
        }
        return new RowSchema(columns, refused);
    }

    private static @Nullable FieldType type(String encoding, @Nullable ByteBuffer first) {
        if (MdsArray.isArray(encoding)) {
            MdsArray array = MdsArray.parse(encoding);
            return array == null ? null : array.type(first);
        }
        if (isJpeg(encoding)) {
            return ScalarType.BINARY;
        }
        return switch (encoding) {
            case "str", "json", "str_decimal" -> ScalarType.UTF8;
            case "bytes", "png" -> ScalarType.BINARY;
            case "int", "str_int" -> ScalarType.INT64;
            case "str_float" -> ScalarType.FLOAT64;
            case "int8",
                    "int16",
                    "int32",
                    "int64",
                    "uint8",
                    "uint16",
                    "uint32",
                    "uint64",
                    "float16",
                    "float32",
                    "float64" -> FieldType.parse(encoding);
            case "jpeg_array", "jpegarray", "list[jpeg]", "list[png]" -> FieldType.parse("binary[]");
            default -> null;
        };
    }

    /** Writers can add the quality, as in {@code jpeg:90}. */
    private static boolean isJpeg(String encoding) {
        return encoding.equals("jpeg") || JPEG_OF_QUALITY.matcher(encoding).matches();
    }

    private static String reason(String encoding) {
        if (MdsArray.isArray(encoding)) {
            return "arrays without a fixed shape must have one or two dimensions; name the shape when you write the"
                    + " shards, as in ndarray:float32:3,224,224";
        }
        return switch (encoding) {
            case "pkl" -> "reading a pickle runs code from the file; write the column as json, bytes or ndarray";
            case "pil", "list[pil]" -> "it holds decoded pixels; write the column as png or jpeg";
            default -> "the encoding is not known";
        };
    }

    /** Returns the bytes of a value if they are always the same, otherwise 0. */
    static int size(String encoding) {
        if (MdsArray.isArray(encoding)) {
            MdsArray array = MdsArray.parse(encoding);
            return array == null || array.shape().isEmpty()
                    ? 0
                    : Objects.requireNonNull(array.type(null), "a shape has a type")
                            .width();
        }
        FieldType type = encoding.startsWith("str_") ? null : type(encoding, null);
        return type instanceof ScalarType scalar && scalar.isNumber() ? scalar.width() : 0;
    }
}

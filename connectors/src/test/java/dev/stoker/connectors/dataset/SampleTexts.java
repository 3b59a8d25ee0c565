package dev.stoker.connectors.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/** Makes a line of text of a sample: version, chunk, row and split, then the values. */
public final class SampleTexts implements SampleDeserializer<String> {
    private static final long serialVersionUID = 1;

    private final int columns;

    public SampleTexts(int columns) {
        this.columns = columns;
    }

    @Override
    public String deserialize(Sample sample) {
        StringBuilder line = new StringBuilder();
        line.append("v" + sample.version() + " " + sample.chunk() + "/" + sample.row() + " " + sample.split());
        for (int c = 0; c < columns; c++) {
            line.append(" ").append(sample.isNull(c) ? "null" : value(sample, c));
        }
        return line.toString();
    }

    private static String value(Sample sample, int column) {
        FieldType type = sample.type(column);
        if (type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL) {
            return sample.stringAt(column);
        }
        if (type instanceof DecimalType) {
            return sample.decimalAt(column).toPlainString();
        }
        if (type.hasNullItems()) {
            List<String> items = new ArrayList<>();
            for (int i = 0; i < sample.itemCount(column); i++) {
                items.add(sample.isNullItem(column, i) ? "null" : hex(sample.itemAt(column, i)));
            }
            return items.toString();
        }
        return switch (type.layout()) {
            case BYTES, LIST, TENSOR -> hex(sample.bytesAt(column));
            case NESTED -> {
                List<String> items = new ArrayList<>();
                for (int i = 0; i < sample.itemCount(column); i++) {
                    items.add(hex(sample.itemAt(column, i)));
                }
                yield items.toString();
            }
            default ->
                type instanceof ScalarType scalar && scalar.isFloat()
                        ? Double.toString(sample.doubleAt(column))
                        : Long.toString(sample.longAt(column));
        };
    }

    private static String hex(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return HexFormat.of().formatHex(copy);
    }

    /** Returns a text as the line shows the bytes of a binary value. */
    public static String hex(String text) {
        return hex(ByteBuffer.wrap(text.getBytes(UTF_8)));
    }

    @Override
    public TypeInformation<String> getProducedType() {
        return Types.STRING;
    }
}

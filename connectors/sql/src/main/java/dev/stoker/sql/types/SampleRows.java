package dev.stoker.sql.types;

import dev.stoker.connectors.dataset.Sample;
import dev.stoker.connectors.dataset.SampleDeserializer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.jspecify.annotations.Nullable;

/** Makes rows of samples: the columns that are read, then metadata. For one thread. */
public final class SampleRows implements SampleDeserializer<RowData> {
    private static final long serialVersionUID = 1;

    /** Stands for the type of a column of the split, which is no column of the chunk. */
    public static final String SPLIT = "";

    private final int columns;
    private final String[] types;
    private final Metadata[] metadata;
    private final TypeInformation<RowData> produced;
    private transient ValueReader @Nullable [] readers;

    /**
     * @param types canonical strings of the types of the columns, or {@link #SPLIT}
     * @param metadata values behind the columns. Those that are columns are read behind the others, in this order
     * @param produced Flink's type of the rows
     */
    public SampleRows(List<String> types, List<Metadata> metadata, TypeInformation<RowData> produced) {
        this.columns = types.size();
        this.types = Stream.concat(
                        types.stream(),
                        metadata.stream()
                                .filter(Metadata::isColumn)
                                .map(value -> value.columnType().canonical()))
                .toArray(String[]::new);
        this.metadata = metadata.toArray(Metadata[]::new);
        this.produced = produced;
    }

    @Override
    public RowData deserialize(Sample sample) throws IOException {
        ValueReader[] values = readers;
        if (values == null) {
            values = open(sample);
            readers = values;
        }
        GenericRowData row = new GenericRowData(columns + metadata.length);
        int column = 0;
        for (int c = 0; c < columns; c++) {
            if (types[c].equals(SPLIT)) {
                row.setField(c, StringData.fromString(sample.split()));
            } else {
                row.setField(c, sample.isNull(column) ? null : values[column].read(sample, column));
                column++;
            }
        }
        for (int m = 0; m < metadata.length; m++) {
            if (metadata[m].isColumn()) {
                row.setField(columns + m, values[column].read(sample, column));
                column++;
            } else {
                row.setField(columns + m, origin(metadata[m], sample));
            }
        }
        return row;
    }

    private ValueReader[] open(Sample first) throws IOException {
        List<ValueReader> values = new ArrayList<>();
        for (String type : types) {
            if (type.equals(SPLIT)) {
                continue;
            }
            int column = values.size();
            String found = first.type(column).canonical();
            if (!found.equals(type)) {
                throw new IOException("column " + column + " has the type " + found + ", but had " + type
                        + " when the query was planned; run the query again");
            }
            values.add(ValueReader.of(first.type(column)));
        }
        return values.toArray(ValueReader[]::new);
    }

    private static Object origin(Metadata value, Sample sample) {
        if (value.equals(Metadata.CHUNK)) {
            return sample.chunk();
        }
        if (value.equals(Metadata.ROW)) {
            return sample.row();
        }
        return value.equals(Metadata.SPLIT) ? StringData.fromString(sample.split()) : sample.version();
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        return produced;
    }
}

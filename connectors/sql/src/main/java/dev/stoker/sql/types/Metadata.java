package dev.stoker.sql.types;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.DataType;

/**
 * A value of a row that is no field: its key, its origin, or the checksum of a payload value. An INSERT writes only the
 * key and the split.
 *
 * @param key the name that follows {@code METADATA FROM} in a table's declaration
 */
public record Metadata(String key) implements Serializable {
    private static final long serialVersionUID = 1;

    /** The key of the row. */
    public static final Metadata KEY = new Metadata(Field.KEY);

    /** The permanent number of the row's chunk. */
    public static final Metadata CHUNK = new Metadata("chunk");

    /** The number of the row in its chunk. */
    public static final Metadata ROW = new Metadata("row");

    /** The split of the row. */
    public static final Metadata SPLIT = new Metadata("split");

    /** The version that is read. */
    public static final Metadata VERSION = new Metadata("version");

    /** Returns the metadata of a dataset's rows and their types, in order. */
    public static Map<Metadata, DataType> of(DatasetInfo info) {
        Map<Metadata, DataType> all = new LinkedHashMap<>();
        all.put(KEY, DataTypes.STRING().notNull());
        all.put(CHUNK, DataTypes.BIGINT().notNull());
        all.put(ROW, DataTypes.INT().notNull());
        all.put(SPLIT, DataTypes.STRING().notNull());
        all.put(VERSION, DataTypes.BIGINT().notNull());
        for (Field field : info.payloadFields()) {
            all.put(
                    new Metadata(DatasetScan.CRC + field.name()),
                    DataTypes.BIGINT().notNull());
        }
        return all;
    }

    /** Returns whether a column of the chunk has the value. */
    public boolean isColumn() {
        return equals(KEY) || key.startsWith(DatasetScan.CRC);
    }

    /** Returns the type of the column that has the value. */
    public ScalarType columnType() {
        return equals(KEY) ? ScalarType.UTF8 : ScalarType.UINT32;
    }
}

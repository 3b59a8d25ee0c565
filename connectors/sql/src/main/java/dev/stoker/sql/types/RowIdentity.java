package dev.stoker.sql.types;

import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/** Reads the key and the split of a written row. Immutable. */
public final class RowIdentity implements Serializable {
    private static final long serialVersionUID = 1;

    private final RowData.FieldGetter[] key;
    private final RowData.@Nullable FieldGetter split;

    /**
     * @param key reads the columns whose texts, joined by {@code /}, are the key; empty if the sink makes keys
     * @param split reads the column of the split; null if all rows are in the split of the sink
     */
    public RowIdentity(List<RowData.FieldGetter> key, RowData.@Nullable FieldGetter split) {
        this.key = key.toArray(RowData.FieldGetter[]::new);
        this.split = split;
    }

    /** Returns whether rows have keys. */
    public boolean hasKey() {
        return key.length > 0;
    }

    /** Returns whether rows name their splits. */
    public boolean hasSplit() {
        return split != null;
    }

    /** Returns this with other columns for the key. */
    public RowIdentity withKey(RowData.FieldGetter column) {
        return new RowIdentity(List.of(column), split);
    }

    /** Returns this with another column for the split. */
    public RowIdentity withSplit(RowData.FieldGetter column) {
        return new RowIdentity(Arrays.asList(key), column);
    }

    String keyOf(RowData row) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int c = 0; c < key.length; c++) {
            Object value = key[c].getFieldOrNull(row);
            if (value == null) {
                throw new IOException("a row has no key, because a column of the key is null");
            }
            text.append(c == 0 ? "" : "/").append(value);
        }
        return text.toString();
    }

    /** Returns the split; an empty text for the split of the sink. */
    String splitOf(RowData row) {
        Object value = split == null ? null : split.getFieldOrNull(row);
        return value == null ? "" : value.toString();
    }
}

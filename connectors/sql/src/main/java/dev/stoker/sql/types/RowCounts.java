package dev.stoker.sql.types;

import dev.stoker.connectors.dataset.Sample;
import dev.stoker.connectors.dataset.SampleDeserializer;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/** Makes the row 1 of each sample: a partial result of {@code COUNT(*)}, for which no column is read. Stateless. */
public final class RowCounts implements SampleDeserializer<RowData> {
    private static final long serialVersionUID = 1;

    private final TypeInformation<RowData> produced;

    /** @param produced Flink's type of the rows: one number */
    public RowCounts(TypeInformation<RowData> produced) {
        this.produced = produced;
    }

    @Override
    public RowData deserialize(Sample sample) {
        return GenericRowData.of(1L);
    }

    @Override
    public TypeInformation<RowData> getProducedType() {
        return produced;
    }
}

package dev.stoker.ingest.rows.pack;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BlockReader;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.rows.read.PositionKeys;
import dev.stoker.ingest.rows.read.RowMapping;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.schemas.arrow.FixedValues;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.RowBlock;
import dev.stoker.schemas.dataset.DatasetInfo;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Converts blocks of a source to blocks of samples. Only for ingests whose fields have the types of their columns, and
 * whose keys are the positions in the source. For one thread.
 */
final class RowBlocks {
    private final List<Field> fields;
    private final int[] mapped;
    private final PositionKeys keys = new PositionKeys();

    private RowBlocks(List<Field> fields, int[] mapped) {
        this.fields = fields;
        this.mapped = mapped;
    }

    /** Returns the conversion; empty if rows must be read one by one. */
    static Optional<RowBlocks> of(RowWork work) throws IOException {
        RowMapping mapping = work.mapping();
        DatasetInfo info = work.info();
        boolean isPlain = mapping.key().isEmpty()
                && mapping.split() == null
                && mapping.where() == null
                && info.payloadFields().isEmpty()
                && !new Splits(work.splitRule()).areHashed();
        for (RowMapping.Mapped field : mapping.fields()) {
            isPlain &= FixedValues.isAnyPatternValid(field.toField().type())
                    && work.reading().type(field.column()).canonical().equals(field.type());
        }
        if (!isPlain) {
            return Optional.empty();
        }
        int[] mapped = info.fields().stream()
                .mapToInt(field -> mapping.fields().stream()
                        .map(RowMapping.Mapped::field)
                        .toList()
                        .indexOf(field.name()))
                .toArray();
        return Optional.of(new RowBlocks(info.fields(), mapped));
    }

    /**
     * Returns the samples of a block. They are valid until the next block.
     *
     * @throws BadValueException if a field that is not nullable has no value
     */
    RowBlock rows(SourceFile file, BlockReader block, RowMapping.Bound bound, int rows) throws BadValueException {
        @Nullable FixedValues[] values = new FixedValues[fields.size()];
        for (int f = 0; f < values.length; f++) {
            int column = mapped[f] < 0 ? -1 : bound.fields()[mapped[f]];
            FixedValues found = column < 0 ? null : block.values(column);
            if (!fields.get(f).nullable() && (found == null || found.hasNull(0, rows))) {
                throw new BadValueException("field " + fields.get(f).name() + " is not nullable");
            }
            values[f] = found;
        }
        keys.make(file.path(), block.position(), rows);
        return new RowBlock(keys.texts(), keys.ends(), values);
    }
}

package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.ValueBatch;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Numbers of classes, given as names. -1 is null. */
final class ClassLabelValue extends FlatValue {
    ClassLabelValue(LeafReader reader, List<String> names) {
        super(reader, new Names(names));
    }

    private static final class Names extends Scalar {
        private final ByteBuffer[] names;

        Names(List<String> names) {
            this.names = names.stream()
                    .map(name -> ByteBuffer.wrap(name.getBytes(StandardCharsets.UTF_8)))
                    .toArray(ByteBuffer[]::new);
        }

        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            long id = batch.longs[index];
            if (id == -1) {
                sink.setNull();
            } else if (id < 0 || id >= names.length) {
                throw new BadValueException("class " + id + " has no name; the file names " + names.length);
            } else {
                sink.setBytes(names[(int) id].duplicate());
            }
        }
    }
}

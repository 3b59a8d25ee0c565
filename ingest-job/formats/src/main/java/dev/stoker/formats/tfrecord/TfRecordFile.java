package dev.stoker.formats.tfrecord;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A TFRecord file. It is one part: only the frames before a record tell where it begins. */
final class TfRecordFile implements RowFile {
    private final RangeReader file;
    private final ReadLimits limits;
    private final Compression compression;
    private final RowSchema schema;
    private final Others others;

    TfRecordFile(RangeReader file, ReadLimits limits, Compression compression, RowSchema schema, Others others) {
        this.file = file;
        this.limits = limits;
        this.compression = compression;
        this.schema = schema;
        this.others = others;
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() throws IOException {
        return List.of(new RowPart(0, 0, file.length(), -1, 0));
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        return new Reader(ByteInput.open(file, compression, limits), columns);
    }

    /** Does nothing: the caller closes the file. */
    @Override
    public void close() {}

    /** Not thread-safe. */
    private final class Reader implements RowReader {
        private final ByteInput in;
        private final RecordFrames frames;
        private final FeatureColumn[] columns;
        private final String[] names;
        private final Set<String> known = new HashSet<>();
        private Map<String, ExampleFeature> features = Map.of();
        private boolean canSkip;

        private Reader(ByteInput in, int[] selected) {
            this.in = in;
            this.frames = new RecordFrames(in, limits);
            this.columns = new FeatureColumn[selected.length];
            this.names = new String[selected.length];
            for (int i = 0; i < selected.length; i++) {
                RowColumn column = schema.columns().get(selected[i]);
                names[i] = column.name();
                columns[i] = new FeatureColumn(column.name(), column.type());
            }
            schema.columns().forEach(column -> known.add(column.name()));
            schema.refused().forEach(column -> known.add(column.name()));
        }

        @Override
        public boolean next() throws IOException {
            canSkip = false;
            ByteBuffer record;
            try {
                record = frames.next();
            } catch (DamagedFileException e) {
                canSkip = frames.isWhole();
                throw e;
            }
            if (record == null) {
                return false;
            }
            features = Example.parse(record, frames);
            if (others != Others.IGNORE) {
                checkNames();
            }
            return true;
        }

        private void checkNames() throws DamagedFileException {
            for (String name : features.keySet()) {
                if (!known.contains(name)) {
                    canSkip = true;
                    throw new DamagedFileException(in.name() + ": the record at offset " + frames.offset()
                            + " has the feature " + Utf8.shown(name)
                            + ", which is not among the columns; add it with "
                            + ShellText.pair("--type", name, "…") + ", or leave it out with --without "
                            + ShellText.word(name));
                }
            }
        }

        @Override
        public long position() {
            return frames.offset();
        }

        @Override
        public void get(int column, ValueSink sink) throws BadValueException {
            ExampleFeature feature = features.get(names[column]);
            if (feature == null) {
                sink.setNull();
            } else {
                columns[column].give(feature, sink);
            }
        }

        @Override
        public boolean skip() {
            return canSkip;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}

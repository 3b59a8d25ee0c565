package dev.stoker.formats.tfrecord;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** TFRecord files of {@code tf.train.Example}, also compressed with gzip. */
public final class TfRecordFormat implements HintedFormat {
    @Override
    public String name() {
        return "tfrecord";
    }

    /** The checksum of the first length is right; of an empty file, the name decides. */
    @Override
    public boolean recognises(FileHead file) {
        if (file.length() == 0) {
            String name = file.name().toLowerCase(Locale.ROOT);
            return name.endsWith(".tfrecord") || name.endsWith(".tfrecords");
        }
        return RecordFrames.isFrame(file.first());
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits, ColumnHints hints) throws IOException {
        hints.types().forEach((name, type) -> {
            if (!FeatureColumn.canHave(type)) {
                throw new IllegalArgumentException("column " + name + " cannot have the type " + type
                        + "; a feature is a list of bytes, floats or integers");
            }
        });
        Compression compression = ByteInput.compressionOf(file);
        return new TfRecordFile(file, limits, compression, schema(file, limits, hints, compression), hints.others());
    }

    private static RowSchema schema(RangeReader file, ReadLimits limits, ColumnHints hints, Compression compression)
            throws IOException {
        if (!hints.others().areInferred()) {
            return new RowSchema(
                    hints.types().entrySet().stream()
                            .map(column -> FeatureInference.column(column.getKey(), column.getValue(), "feature"))
                            .toList(),
                    List.of());
        }
        try (ByteInput in = ByteInput.open(file, compression, limits)) {
            return new FeatureInference(hints.types()).infer(new RecordFrames(in, limits), InferenceLimits.RECORDS);
        }
    }
}

package dev.stoker.formats.webdataset;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.Sample;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.formats.tar.TarMember;
import dev.stoker.formats.tar.TarReader;
import dev.stoker.formats.tar.TarSignature;
import dev.stoker.formats.values.TextValue;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** WebDataset shards: tar archives, also compressed with gzip or zstd. */
public final class WebDatasetFormat implements HintedFormat {
    @Override
    public String name() {
        return "webdataset";
    }

    /** The first header is sound. If nothing of a compressed file could be decompressed, the name decides. */
    @Override
    public boolean recognises(FileHead file) {
        boolean unknown = !file.first().hasRemaining() && file.length() > 0;
        if (unknown || TarSignature.isEmpty(file.first())) {
            return file.name().toLowerCase(Locale.ROOT).endsWith(".tar");
        }
        return TarSignature.isTar(file.first());
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits, ColumnHints hints) throws IOException {
        hints.types().forEach((name, type) -> {
            if (!TextValue.canBeText(type)) {
                throw new IllegalArgumentException("column " + name + " cannot have the type " + type
                        + "; a member of an archive is binary, or text with one value");
            }
        });
        Compression compression = ByteInput.compressionOf(file);
        return new WebDatasetFile(file, limits, compression, schema(file, limits, hints, compression), hints.others());
    }

    private static RowSchema schema(RangeReader file, ReadLimits limits, ColumnHints hints, Compression compression)
            throws IOException {
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        columns.put(Extensions.KEY, Extensions.key());
        if (hints.others() == Others.INFER) {
            try (ByteInput in = ByteInput.open(file, compression, limits)) {
                sample(in, columns);
            }
        }
        for (Map.Entry<String, FieldType> declared : hints.types().entrySet()) {
            if (!declared.getKey().equals(Extensions.KEY)) {
                columns.put(declared.getKey(), Extensions.column(declared.getKey(), declared.getValue()));
            }
        }
        return new RowSchema(new ArrayList<>(columns.values()), List.of());
    }

    /** Finds the extensions of the first samples. */
    private static void sample(ByteInput in, Map<String, RowColumn> columns) throws IOException {
        TarReader tar = new TarReader(in);
        String key = null;
        int samples = 0;
        for (TarMember member = tar.next(); member != null; member = tar.next()) {
            MemberName name = MemberName.isMetadata(member.name()) ? null : MemberName.of(member.name());
            if (name == null) {
                continue;
            }
            if (!name.key().equals(key)) {
                if (samples++ == Sample.RECORDS.rows() || member.offset() > Sample.RECORDS.bytes()) {
                    return;
                }
                key = name.key();
            }
            columns.computeIfAbsent(name.extension(), Extensions::column);
        }
    }
}

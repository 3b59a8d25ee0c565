package dev.stoker.formats.webdataset;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.FileHead;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.InferenceLimits;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.formats.tar.TarMember;
import dev.stoker.formats.tar.TarReader;
import dev.stoker.formats.tar.TarSignature;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** WebDataset shards: tar archives, also compressed with gzip or zstd. */
public final class WebDatasetFormat implements HintedFormat {
    /** Fewer samples say nothing about their extensions. */
    private static final int FEW_SAMPLES = 5;

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
        if (hints.others().areInferred()) {
            try (ByteInput in = ByteInput.open(file, compression, limits)) {
                sample(in, columns, hints.others() == Others.OFFER);
            }
        }
        for (Map.Entry<String, FieldType> declared : hints.types().entrySet()) {
            if (!declared.getKey().equals(Extensions.KEY)) {
                columns.put(declared.getKey(), Extensions.column(declared.getKey(), declared.getValue()));
            }
        }
        return new RowSchema(new ArrayList<>(columns.values()), List.of());
    }

    /**
     * Finds the extensions of the first samples.
     *
     * @param isChosen whether the user names those that become columns
     */
    private static void sample(ByteInput in, Map<String, RowColumn> columns, boolean isChosen) throws IOException {
        TarReader tar = new TarReader(in);
        Map<String, Integer> samplesWith = new LinkedHashMap<>();
        String key = null;
        int samples = 0;
        String stray = null;
        for (TarMember member = tar.next(); member != null; member = tar.next()) {
            if (MemberName.isLeftOut(member.name())) {
                continue;
            }
            MemberName name = MemberName.of(member.name());
            if (name == null) {
                stray = stray == null ? member.name() : stray;
                continue;
            }
            if (!name.key().equals(key)) {
                if (samples == InferenceLimits.RECORDS.rows() || member.offset() > InferenceLimits.RECORDS.bytes()) {
                    break;
                }
                samples++;
                key = name.key();
            }
            samplesWith.merge(name.extension(), 1, Integer::sum);
        }
        if (samples == 0 && stray != null) {
            throw new UnsupportedFileException(in.name() + " has no samples: the names of its members, such as "
                    + Utf8.shown(stray) + ", have no extension; give the members of a sample one name with different"
                    + " extensions, such as 0001.jpg and 0001.txt, or unpack the archive and ingest the directory");
        }
        if (!isChosen) {
            requireExtensions(in, samplesWith, samples);
        }
        samplesWith.keySet().forEach(extension -> columns.put(extension, Extensions.column(extension)));
    }

    /** Returns the option that takes the columns of several samples, if there are such columns. */
    private static String wanted(Map<String, Integer> samplesWith, List<String> single) {
        List<String> shared = samplesWith.keySet().stream()
                .filter(extension -> !single.contains(extension))
                .toList();
        return shared.isEmpty() ? "" : ", or take only the other columns with " + ShellText.names("--columns", shared);
    }

    /** Refuses names in which the first dot does not end the key, so that each sample has its own extensions. */
    private static void requireExtensions(ByteInput in, Map<String, Integer> samplesWith, int samples)
            throws UnsupportedFileException {
        List<String> single = samplesWith.entrySet().stream()
                .filter(entry -> entry.getValue() == 1 && entry.getKey().contains("."))
                .map(Map.Entry::getKey)
                .toList();
        if (samples >= FEW_SAMPLES && 2 * single.size() >= samples) {
            throw new UnsupportedFileException(in.name() + ": the first dot in the name of a member ends the key of its"
                    + " sample and begins the name of its column, but " + single.size()
                    + " of the columns of the first "
                    + samples + " samples are in one sample only, such as " + Utf8.shown(single.get(0))
                    + "; write the archive without other dots in the names" + wanted(samplesWith, single));
        }
    }
}

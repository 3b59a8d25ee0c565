package dev.stoker.ingest.rows.read;

import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.HintedFormat;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.convert.ConvertedFile;
import dev.stoker.formats.detection.ForeignFormat;
import dev.stoker.formats.detection.Formats;
import dev.stoker.formats.mds.MdsFormat;
import dev.stoker.formats.partition.CompletedFile;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.rows.options.MdsShards;
import dev.stoker.ingest.rows.source.PathColumns;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceReader;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * Opens the files of a source, with the columns that their directories give.
 *
 * @param format of the files
 * @param limits bounds for the sizes that a file may declare
 * @param hints the columns that all files have, if the format does not describe them
 * @param path the columns of directories
 * @param contents columns with paths of files
 * @param shards the indexes of MDS
 * @param types the types as which columns are read, by name, if a conversion from their own type exists
 */
public record RowFiles(
        RowFormat format,
        ReadLimits limits,
        ColumnHints hints,
        PathColumns path,
        FileContents contents,
        MdsShards shards,
        Map<String, FieldType> types) {
    /** Two tasks that read parts of this share of the heap leave half of it for everything else. */
    private static final int HEAP_SHARE = 4;

    /**
     * Returns the limits for a task.
     *
     * @param memoryBytes memory for one part; 0 for the default, which the heap of this process can bear
     */
    public static ReadLimits limits(long memoryBytes) {
        return new ReadLimits(
                memoryBytes > 0
                        ? memoryBytes
                        : Math.min(
                                ReadLimits.DEFAULT.memoryBytes(),
                                Runtime.getRuntime().maxMemory() / HEAP_SHARE),
                ReadLimits.DEFAULT.valueBytes(),
                ReadLimits.DEFAULT.depth(),
                ReadLimits.DEFAULT.expansion(),
                "raise the limit with --part-memory");
    }

    /** Returns the limits for a table that this process reads, for a command without an option for the memory. */
    public static ReadLimits tableLimits() {
        ReadLimits limits = limits(0);
        return new ReadLimits(limits.memoryBytes(), limits.valueBytes(), limits.depth(), limits.expansion());
    }

    /** Returns this with other hints. */
    public RowFiles with(ColumnHints other) {
        return new RowFiles(format, limits, other, path, contents, shards, types);
    }

    /** Returns this with types as which columns are read. */
    public RowFiles readAs(Map<String, FieldType> other) {
        return new RowFiles(format, limits, hints, path, contents, shards, other);
    }

    /**
     * Opens a file with its own columns only.
     *
     * @throws UnsupportedFileException if it has another format, which Stoker does not read
     */
    public RowFile openAlone(SourceFile file, SourceReader reader) throws IOException {
        try {
            return openAsIs(file, reader);
        } catch (DamagedFileException e) {
            Optional<ForeignFormat> foreign = Formats.foreign(reader);
            if (foreign.isPresent()) {
                throw new UnsupportedFileException(
                        file.location() + " is " + foreign.get().kind() + ", which Stoker does not read; "
                                + foreign.get().advice(),
                        e);
            }
            if (file.length() == 0) {
                throw new UnsupportedFileException(
                        file.location() + " is empty: it has 0 bytes; write it again, or leave it out", e);
            }
            throw e;
        }
    }

    private RowFile openAsIs(SourceFile file, SourceReader reader) throws IOException {
        if (format instanceof MdsFormat mds && !file.index().isEmpty()) {
            return mds.open(reader, limits, shards.of(file));
        }
        return format instanceof HintedFormat hinted ? hinted.open(reader, limits, hints) : format.open(reader, limits);
    }

    /** Opens a file. */
    public RowFile open(SourceFile file, SourceReader reader) throws IOException {
        RowFile own = ConvertedFile.of(openAlone(file, reader), types);
        RowFile rows = contents.of(own, file, limits.memoryBytes());
        return CompletedFile.of(rows, file.location(), path.of(file));
    }
}

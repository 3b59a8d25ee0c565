package dev.stoker.formats.detection;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.arrow.ArrowFormat;
import dev.stoker.formats.avro.AvroFormat;
import dev.stoker.formats.csv.CsvFormat;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.formats.json.JsonLinesFormat;
import dev.stoker.formats.mds.MdsFormat;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.formats.tfrecord.TfRecordFormat;
import dev.stoker.formats.webdataset.WebDatasetFormat;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** All formats. */
public final class Formats {
    /** In the order in which they are asked: the formats with the clearest signatures first. */
    private static final List<RowFormat> ALL = List.of(
            new ParquetFormat(),
            new ArrowFormat(),
            new AvroFormat(),
            new TfRecordFormat(),
            new WebDatasetFormat(),
            new MdsFormat(),
            new JsonLinesFormat(),
            new CsvFormat());

    /** Endings of names, and the format that they claim. */
    private static final Map<String, List<String>> ENDINGS = Map.of(
            "parquet", List.of(".parquet", ".parq", ".pqt"),
            "arrow", List.of(".arrow", ".arrows", ".feather"),
            "avro", List.of(".avro"),
            "tfrecord", List.of(".tfrecord", ".tfrecords"),
            "webdataset", List.of(".tar"),
            "mds", List.of(".mds"),
            "jsonl", List.of(".jsonl", ".ndjson"),
            "csv", List.of(".csv", ".tsv", ".psv"));

    /** The first block of zstd can be this long, and nothing can be decompressed before its end. */
    private static final int COMPRESSED_BYTES = 160 << 10;

    private Formats() {}

    /** Returns all formats in the order in which they are asked. */
    public static List<RowFormat> all() {
        return ALL;
    }

    /** Returns the names of all formats, sorted. */
    public static List<String> names() {
        return ALL.stream().map(RowFormat::name).sorted().toList();
    }

    /**
     * Returns the format with a name.
     *
     * @throws IllegalArgumentException if there is none; names all
     */
    public static RowFormat named(String name) {
        return ALL.stream()
                .filter(format -> format.name().equals(name))
                .findFirst()
                .orElseThrow(() -> {
                    String known = String.join(", ", names());
                    return new IllegalArgumentException("unknown format '" + name + "'; known are " + known);
                });
    }

    /** Returns the format that the name of a file claims, also if the file is compressed. */
    public static Optional<RowFormat> claimed(String name) {
        String inside = Compression.nameInside(name).toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(format ->
                        ENDINGS.getOrDefault(format.name(), List.of()).stream().anyMatch(inside::endsWith))
                .findFirst();
    }

    /** Returns the format of a file if it is one that Stoker knows but does not read. */
    public static Optional<ForeignFormat> foreign(RangeReader file) throws IOException {
        return ForeignFormat.of(head(file));
    }

    /**
     * Returns the format of a file. If the file is compressed with gzip or zstd, its content decides.
     *
     * @return empty if no format recognises the file
     */
    public static Optional<RowFormat> detect(RangeReader file) throws IOException {
        return detect(head(file));
    }

    private static FileHead head(RangeReader file) throws IOException {
        long length = file.length();
        ByteBuffer last = ByteBuffer.allocate((int) Math.min(FileHead.LAST_BYTES, length));
        file.readFully(length - last.capacity(), last);
        boolean compressed = ByteInput.compressionOf(file) != Compression.NONE;
        ByteBuffer first =
                ByteBuffer.allocate((int) Math.min(compressed ? COMPRESSED_BYTES : FileHead.FIRST_BYTES, length));
        file.readFully(0, first);
        return new FileHead(file.name(), length, first.flip(), last.flip());
    }

    /**
     * Returns the format of a file by its head. The head of a file in zstd should have more bytes than {@link
     * FileHead#FIRST_BYTES}, as zstd compresses in large blocks; otherwise the name may have to decide.
     *
     * @return empty if no format recognises the file
     */
    public static Optional<RowFormat> detect(FileHead file) {
        Optional<RowFormat> outside = recognise(file);
        if (outside.isPresent() || Compression.of(file.first()) == Compression.NONE) {
            return outside;
        }
        return recognise(inside(file));
    }

    private static Optional<RowFormat> recognise(FileHead file) {
        return ALL.stream().filter(format -> format.recognises(file)).findFirst();
    }

    /** Returns the first bytes of the decompressed content, if the head of the file suffices to decompress them. */
    private static FileHead inside(FileHead file) {
        byte[] bytes = new byte[FileHead.FIRST_BYTES];
        int length = 0;
        boolean ended = false;
        RangeReader head = new BufferRangeReader(file.name(), file.first());
        try (ByteInput in = ByteInput.open(head, Compression.of(file.first()), ReadLimits.DEFAULT)) {
            // Byte after byte, as an error behind the head must not lose what came before it.
            for (int b = in.read(); b >= 0; b = in.read()) {
                bytes[length++] = (byte) b;
                if (length == bytes.length) {
                    break;
                }
            }
            ended = length < bytes.length;
        } catch (IOException e) {
            // The head cuts the file, so its end is always damaged.
            ended = false;
        }
        return new FileHead(
                Compression.nameInside(file.name()),
                ended ? length : Long.MAX_VALUE,
                ByteBuffer.wrap(bytes, 0, length),
                ByteBuffer.allocate(0));
    }
}

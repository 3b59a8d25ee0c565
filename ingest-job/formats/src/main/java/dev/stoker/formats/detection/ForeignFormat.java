package dev.stoker.formats.detection;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.tfrecord.TfRecordFormat;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Formats of files with many samples that Stoker knows but does not read. The first bytes decide. */
public enum ForeignFormat {
    ORC("ORC", "convert it to Parquet, for example with pyarrow", List.of(".orc"), "ORC"),
    FEATHER_1(
            "Feather of version 1", "write it again with a newer version of its library, as Arrow", List.of(), "FEA1"),
    ARRAY_RECORD(
            "ArrayRecord",
            "write its records to TFRecord or Parquet files",
            List.of(".array_record", ".arrayrecord", ".riegeli"),
            "\u0083\u00afp\u00d1\r\u0088J?"),
    ZIP("a zip archive", "unpack it first", List.of(".zip"), "PK\u0003\u0004"),
    SEVEN_ZIP("a 7z archive", "unpack it first", List.of(".7z"), "7z\u00bc\u00af'\u001c"),
    XZ("compressed with xz", "decompress it first", List.of(".xz", ".txz"), "\u00fd7zXZ\u0000"),
    BZIP2("compressed with bzip2", "decompress it first", List.of(".bz2", ".tbz2"), "BZh"),
    HDF5("HDF5", "write its rows to Parquet files", List.of(".h5", ".hdf5"), "\u0089HDF\r\n\u001a\n"),
    ZLIB_TFRECORD("a TFRecord file with ZLIB compression", "write it with GZIP or without compression", List.of(), "x");

    private final String kind;
    private final String advice;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final List<String> endings;

    private final String magic;

    ForeignFormat(String kind, String advice, List<String> endings, String magic) {
        this.kind = kind;
        this.advice = advice;
        this.endings = endings;
        this.magic = magic;
    }

    /** Returns the format in words, such as {@code ORC} or {@code a zip archive}. */
    public String kind() {
        return kind;
    }

    /** Returns what to do with such a file. */
    public String advice() {
        return advice;
    }

    /** Returns the format that a name claims. */
    public static Optional<ForeignFormat> named(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        for (ForeignFormat format : values()) {
            if (format.endings.stream().anyMatch(lower::endsWith)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /** Returns the format of a file by its head. */
    public static Optional<ForeignFormat> of(FileHead file) {
        for (ForeignFormat format : values()) {
            if (file.begins(format.magic) && (format != ZLIB_TFRECORD || isZlibTfRecord(file))) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /**
     * Returns whether files of this format are always containers. A zip archive can also be a sample: the files of many
     * programs are such archives.
     */
    public boolean isAlwaysContainer() {
        return this != ZIP && this != HDF5 && this != XZ && this != BZIP2 && this != SEVEN_ZIP;
    }

    private static boolean isZlibTfRecord(FileHead file) {
        byte[] bytes = new byte[file.first().remaining()];
        file.first().duplicate().get(bytes);
        byte[] inside = new byte[FileHead.FIRST_BYTES];
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(bytes);
            ByteBuffer first = ByteBuffer.wrap(inside, 0, inflater.inflate(inside));
            return first.hasRemaining()
                    && new TfRecordFormat()
                            .recognises(new FileHead(file.name(), Long.MAX_VALUE, first, ByteBuffer.allocate(0)));
        } catch (DataFormatException e) {
            return false;
        } finally {
            inflater.end();
        }
    }
}

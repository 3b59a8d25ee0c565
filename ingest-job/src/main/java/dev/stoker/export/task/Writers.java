package dev.stoker.export.task;

import dev.stoker.export.spec.Content;
import dev.stoker.formats.arrow.ArrowRowWriter;
import dev.stoker.formats.avro.AvroRowWriter;
import dev.stoker.formats.files.FilesWriter;
import dev.stoker.formats.json.JsonLinesWriter;
import dev.stoker.formats.parquet.write.ParquetRowWriter;
import dev.stoker.formats.tfrecord.TfRecordWriter;
import dev.stoker.formats.webdataset.WebDatasetWriter;
import dev.stoker.formats.write.RowFormatWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The formats that an export writes. */
public final class Writers {
    private static final List<RowFormatWriter> ALL = List.of(
            new ParquetRowWriter(),
            new ArrowRowWriter(),
            new WebDatasetWriter(),
            new TfRecordWriter(),
            new AvroRowWriter(),
            new JsonLinesWriter());

    private Writers() {}

    /** Returns the format with this name; empty for a tree of files, which has none. */
    public static Optional<RowFormatWriter> named(String name) {
        return ALL.stream().filter(format -> format.name().equals(name)).findFirst();
    }

    /** Returns the format of the files, in their layout; empty for a tree of files, which has none. */
    public static Optional<RowFormatWriter> of(Content content) {
        Set<String> images = content.images();
        return images == null ? named(content.format()) : Optional.of(ParquetRowWriter.huggingFace(images));
    }

    /** Returns the names of all formats. The name {@code files} means a tree of files. */
    public static List<String> names() {
        return Stream.concat(ALL.stream().map(RowFormatWriter::name), Stream.of(FilesWriter.NAME))
                .toList();
    }
}

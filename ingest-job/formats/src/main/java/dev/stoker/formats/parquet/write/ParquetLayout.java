package dev.stoker.formats.parquet.write;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.Set;

/**
 * How the columns of a dataset become columns of a file.
 *
 * @param isHuggingFace whether they have the types that the library datasets of Hugging Face expects: everything may be
 *     null, classes are numbers, and images are structs of bytes and path
 * @param images names of the columns in the file that hold images; empty in the other layout
 */
record ParquetLayout(boolean isHuggingFace, Set<String> images) {
    /** An ingest of the file gives the same fields. */
    static final ParquetLayout STOKER = new ParquetLayout(false, Set.of());

    ParquetLayout {
        images = Set.copyOf(images);
    }

    /** Returns the table of the file. */
    OutputTable table(OutputTable dataset) {
        return isHuggingFace
                ? new OutputTable(
                        dataset.columns().stream().map(this::column).toList(),
                        dataset.key(),
                        dataset.compression(),
                        dataset.stored())
                : dataset;
    }

    /** Returns the column of the file. */
    OutputColumn column(OutputColumn column) {
        if (!isHuggingFace) {
            return column;
        }
        return new OutputColumn(
                column.name(),
                column.type() == ScalarType.CATEGORICAL ? ScalarType.INT64 : column.type(),
                true,
                column.payload(),
                column.classes());
    }

    boolean isImage(OutputColumn column) {
        return images.contains(column.name());
    }

    /** Returns how the values of a column of the file are stored. */
    OutputType type(OutputColumn column) {
        OutputType type = OutputType.of(column.type());
        return isHuggingFace ? type.withOptionalItems() : type;
    }
}

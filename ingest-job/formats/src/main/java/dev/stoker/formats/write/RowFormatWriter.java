package dev.stoker.formats.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/** Writes the files of one format. Stateless and thread-safe. */
public interface RowFormatWriter {
    /** Returns the name of the format, as in {@code --format}. */
    String name();

    /** Returns the supported compressions; the first is the default. */
    List<String> compressions();

    /** Returns the ending of file names, with a dot. */
    String ending(String compression);

    /** Returns the problems of a table that the format cannot hold: a sentence for each, with the option that helps. */
    List<String> problems(OutputTable table);

    /** Returns the type that a column has in the file, in the words of the format. */
    String type(OutputColumn column);

    /** Begins a file. The caller has checked that there are no {@link #problems}, and closes the stream. */
    RowOutput open(OutputStream out, OutputTable table) throws IOException;
}

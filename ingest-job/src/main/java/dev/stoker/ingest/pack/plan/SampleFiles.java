package dev.stoker.ingest.pack.plan;

import java.io.IOException;
import java.io.Serializable;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens the files of samples. Used by several threads. */
@FunctionalInterface
public interface SampleFiles extends Serializable {

    /** Files of the machine's file systems. */
    SampleFiles LOCAL = path -> FileChannel.open(Path.of(path), StandardOpenOption.READ);

    /** Opens a file by its absolute path. */
    SeekableByteChannel open(String path) throws IOException;
}

package dev.stoker.ingest.pack.read;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.ingest.pack.plan.SampleFiles;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.util.List;

/** Opens the files of a chunk that is being packed. For one thread. */
public interface SourceReads {

    /**
     * A file that will be requested.
     *
     * @param key path relative to the tree's root
     * @param length as listed
     */
    record Wanted(String key, long length) {}

    /** Announces the files of the next chunk, in the order in which they will be requested. */
    void begin(List<Wanted> files);

    /**
     * Opens a file.
     *
     * @param key path relative to the tree's root
     * @param listedLength its length if it has not changed since it was listed, or -1 to read its present content
     */
    SeekableByteChannel open(String key, long listedLength) throws IOException;

    /** Cancels all announcements. */
    void end();

    /** A tree of this machine: its kernel reads ahead. */
    record Local(FileTree tree, SampleFiles files) implements SourceReads {

        @Override
        public void begin(List<Wanted> wanted) {}

        @Override
        public SeekableByteChannel open(String key, long listedLength) throws IOException {
            return files.open(tree.path(key));
        }

        @Override
        public void end() {}
    }
}

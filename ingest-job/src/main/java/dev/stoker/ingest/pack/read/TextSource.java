package dev.stoker.ingest.pack.read;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.stoker.storage.RangeStream;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A text file in UTF-8, on any file system. */
public final class TextSource {

    private TextSource() {}

    /** Whether the file exists and can be read. */
    public static boolean isReadable(String location) {
        if (!Stores.isRemote(location)) {
            Path file = Stores.local(location);
            return Files.isReadable(file) && !Files.isDirectory(file);
        }
        try (SourceTree folder = Stores.openTree(folder(location))) {
            Optional<SourceTree.Entry> file = folder.find(name(location));
            return file.isPresent() && file.get().kind() == SourceTree.Kind.FILE;
        } catch (IOException e) {
            return false;
        }
    }

    /** Reads the file's lines, from a buffer. */
    static BufferedReader open(String location) throws IOException {
        if (!Stores.isRemote(location)) {
            return Files.newBufferedReader(Stores.local(location), UTF_8);
        }
        InputStream bytes = new Remote(Stores.openTree(folder(location)), name(location));
        return new BufferedReader(new InputStreamReader(bytes, UTF_8.newDecoder()), 1 << 16);
    }

    private static String folder(String location) {
        return location.substring(0, location.lastIndexOf('/'));
    }

    private static String name(String location) {
        return location.substring(location.lastIndexOf('/') + 1);
    }

    /** A file of another file system. Closing it closes the tree. */
    private static final class Remote extends RangeStream {

        private final SourceTree tree;
        private final String name;

        Remote(SourceTree tree, String name) {
            super(1 << 20);
            this.tree = tree;
            this.name = name;
        }

        @Override
        protected void read(long offset, ByteBuffer target) throws IOException {
            tree.read(name, offset, target);
        }

        @Override
        public void close() throws IOException {
            tree.close();
        }
    }
}

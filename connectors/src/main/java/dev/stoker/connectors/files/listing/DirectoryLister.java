package dev.stoker.connectors.files.listing;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lists one directory of a tree: its samples with their sizes, its sub-directories, and skipped entries. Several
 * threads may use it; the caller closes it.
 */
public final class DirectoryLister implements Closeable {

    /** Receives the entries of a directory while it is listed. */
    public interface Visitor {

        /**
         * A sample.
         *
         * @param name within the directory
         * @param size in bytes
         * @param modifiedMs time of the last change
         * @param sidecars for each sidecar ending of the tree the size of that file, or -1 if there is none
         */
        void file(String name, long size, long modifiedMs, long[] sidecars);

        /** A sub-directory. */
        void directory(DirectorySplit directory);

        /** A skipped entry. The path is relative to the root. */
        void skip(FileSkip reason, String path);
    }

    private record Entry(String name, long size, long modifiedMs) {}

    private final FileTree tree;
    private final Listing listing;
    private final TreeRules rules;

    private DirectoryLister(FileTree tree, Listing listing) {
        this.tree = tree;
        this.listing = listing;
        this.rules = new TreeRules(tree);
    }

    /**
     * Opens a tree on any file system.
     *
     * @throws IOException if its file system cannot be reached or is not supported
     */
    public static DirectoryLister open(FileTree tree) throws IOException {
        return Stores.isRemote(tree.root()) ? of(tree, Stores.openTree(tree.root())) : local(tree);
    }

    static DirectoryLister local(FileTree tree) {
        return new DirectoryLister(tree, new LocalListing(tree));
    }

    /** Opens a tree of another file system, which is closed with the lister. */
    static DirectoryLister of(FileTree tree, SourceTree source) {
        return new DirectoryLister(tree, new RemoteListing(tree, source));
    }

    /**
     * Lists one directory, without its sub-directories.
     *
     * @throws IOException if it cannot be listed and the tree's errors are not skipped
     */
    public void list(DirectorySplit directory, Visitor output) throws IOException {
        Visitor visitor = tree.names().isAll() ? output : new Named(directory, output);
        try {
            if (tree.sidecars().isEmpty()) {
                listing.list(directory, visitor);
            } else {
                Paired paired = new Paired(visitor);
                listing.list(directory, paired);
                pair(directory, paired.entries, visitor);
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            visitor.skip(FileSkip.VANISHED, directory.path());
        } catch (UnreadableException e) {
            throw e;
        } catch (IOException e) {
            if (FailureKind.isSilence(e)) {
                throw e;
            }
            rules.unreadable(directory.path(), e, visitor);
        }
    }

    /** Passes on the files and directories whose names are wanted. */
    private final class Named implements Visitor {
        private final DirectorySplit parent;
        private final Visitor output;

        Named(DirectorySplit parent, Visitor output) {
            this.parent = parent;
            this.output = output;
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            if (tree.names().takes(parent.child(name))) {
                output.file(name, size, modifiedMs, sidecars);
            } else {
                output.skip(FileSkip.NOT_WANTED, parent.child(name));
            }
        }

        @Override
        public void directory(DirectorySplit directory) {
            if (tree.names().leavesOut(directory.path())) {
                output.skip(FileSkip.NOT_WANTED, directory.path());
            } else {
                output.directory(directory);
            }
        }

        @Override
        public void skip(FileSkip reason, String path) {
            boolean isDirectory = path.equals(parent.path());
            output.skip(isDirectory || tree.names().takes(path) ? reason : FileSkip.NOT_WANTED, path);
        }
    }

    /** Keeps the files of a directory until the listing is complete. */
    private static final class Paired implements Visitor {

        private final Map<String, Entry> entries = new LinkedHashMap<>();
        private final Visitor output;

        Paired(Visitor output) {
            this.output = output;
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            entries.put(name, new Entry(name, size, modifiedMs));
        }

        @Override
        public void directory(DirectorySplit directory) {
            output.directory(directory);
        }

        @Override
        public void skip(FileSkip reason, String path) {
            output.skip(reason, path);
        }
    }

    private void pair(DirectorySplit directory, Map<String, Entry> entries, Visitor visitor) {
        List<String> endings = tree.sidecars();
        Map<String, Boolean> used = new LinkedHashMap<>();
        for (String name : entries.keySet()) {
            if (endings.stream().anyMatch(name::endsWith)) {
                used.put(name, false);
            }
        }
        for (Entry entry : entries.values()) {
            if (used.containsKey(entry.name())) {
                continue;
            }
            long[] sidecars = new long[endings.size()];
            for (int i = 0; i < sidecars.length; i++) {
                String name = sidecarOf(entry.name(), endings.get(i));
                Entry sidecar = entries.get(name);
                sidecars[i] = sidecar == null ? -1 : sidecar.size();
                if (sidecar != null) {
                    used.put(name, true);
                }
            }
            visitor.file(entry.name(), entry.size(), entry.modifiedMs(), sidecars);
        }
        used.forEach((name, isUsed) -> {
            if (!isUsed) {
                visitor.skip(FileSkip.LONE_SIDECAR, directory.child(name));
            }
        });
    }

    /** The name or path of the sidecar of a sample: the sample's last extension is replaced. */
    public static String sidecarOf(String sample, String ending) {
        int dot = sample.lastIndexOf('.');
        boolean hasExtension = dot > sample.lastIndexOf('/') + 1;
        return (hasExtension ? sample.substring(0, dot) : sample) + ending;
    }

    @Override
    public void close() throws IOException {
        listing.close();
    }
}

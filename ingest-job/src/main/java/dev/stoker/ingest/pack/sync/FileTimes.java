package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.ingest.spec.Sidecar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;

/**
 * Finds out when the files of a sample have changed last. On this machine, this is the change time of the inode, which
 * also changes if a file takes the place of another one and keeps its modification time. For any thread.
 *
 * @param tree of the files
 * @param sidecars of the tree
 */
record FileTimes(FileTree tree, List<Sidecar> sidecars) {

    /** Returns whether all files of a sample have not changed since a time; false if this is not known. */
    boolean areBefore(FileEntry file, long timeMs) {
        if (file.modifiedMs() >= timeMs) {
            return false;
        }
        if (tree.isRemote()) {
            // The times of sidecars are not known.
            return sidecars.isEmpty();
        }
        if (!isBefore(file.path(), timeMs)) {
            return false;
        }
        for (int i = 0; i < sidecars.size(); i++) {
            if (file.sidecars()[i] >= 0
                    && !isBefore(
                            DirectoryLister.sidecarOf(
                                    file.path(), sidecars.get(i).ending()),
                            timeMs)) {
                return false;
            }
        }
        return true;
    }

    private boolean isBefore(String key, long timeMs) {
        Path path = Path.of(tree.path(key));
        try {
            return changedMs(path, LinkOption.NOFOLLOW_LINKS) < timeMs
                    && (!Files.isSymbolicLink(path) || changedMs(path) < timeMs)
                    && Files.getLastModifiedTime(path).toMillis() < timeMs;
        } catch (IOException | UnsupportedOperationException e) {
            // The file is read, and its fault is found then.
            return false;
        }
    }

    private static long changedMs(Path path, LinkOption... options) throws IOException {
        return ((FileTime) Files.getAttribute(path, "unix:ctime", options)).toMillis();
    }
}

package dev.stoker.connectors.files;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lists one directory of a tree: its samples with their sizes, its sub-directories, and what is neither. One {@code lstat}
 * an entry, one more for a link. Stateless; may be used by several threads.
 */
public final class DirectoryLister {

    /** Takes what a directory holds, while it is being listed. */
    public interface Visitor {

        /**
         * A sample.
         *
         * @param name within the directory
         * @param size in bytes
         * @param modifiedMs time of the last change
         * @param sidecars for each sidecar ending of the tree the size of that file, or -1 where there is none
         */
        void file(String name, long size, long modifiedMs, long[] sidecars);

        /** A sub-directory. */
        void directory(DirectorySplit directory);

        /** Something that is neither. The path is relative to the root. */
        void skip(FileSkip reason, String path);
    }

    private static final long[] NO_SIDECARS = {};

    private record Entry(String name, long size, long modifiedMs) {}

    private final FileTree tree;

    public DirectoryLister(FileTree tree) {
        this.tree = tree;
    }

    /**
     * Lists one directory, not what is below it.
     *
     * @throws IOException if it cannot be listed and the tree's errors are not to be skipped
     */
    public void list(DirectorySplit directory, Visitor visitor) throws IOException {
        Path path = Path.of(tree.path(directory.path()));
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path)) {
            if (!tree.sorted() && tree.sidecars().isEmpty()) {
                for (Path entry : stream) {
                    visit(directory, entry, visitor, visitor::file);
                }
            } else {
                listWhole(directory, stream, visitor);
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            visitor.skip(FileSkip.VANISHED, directory.path());
        } catch (DirectoryIteratorException e) {
            unreadable(directory.path(), e.getCause(), visitor);
        } catch (UnreadableException e) {
            throw e;
        } catch (IOException e) {
            unreadable(directory.path(), e, visitor);
        }
    }

    private void listWhole(DirectorySplit directory, DirectoryStream<Path> stream, Visitor visitor) throws IOException {
        List<Path> paths = new ArrayList<>();
        stream.forEach(paths::add);
        if (tree.sorted()) {
            paths.sort(Comparator.comparing(Path::getFileName));
        }
        Map<String, Entry> entries = new LinkedHashMap<>();
        for (Path path : paths) {
            visit(
                    directory,
                    path,
                    visitor,
                    (name, size, modifiedMs, sidecars) -> entries.put(name, new Entry(name, size, modifiedMs)));
        }
        pair(directory, entries, visitor);
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
            long[] sidecars = endings.isEmpty() ? NO_SIDECARS : new long[endings.size()];
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

    /** Takes a regular file. */
    private interface FileVisitor {
        void file(String name, long size, long modifiedMs, long[] sidecars);
    }

    private void visit(DirectorySplit directory, Path entry, Visitor visitor, FileVisitor files) throws IOException {
        String name = entry.getFileName().toString();
        if (name.charAt(0) == '.' && tree.hidden() == FileTree.Hidden.SKIP) {
            visitor.skip(FileSkip.HIDDEN, directory.child(name));
            return;
        }
        // What the JVM cannot decode it replaces; no String leads back to such a file.
        if (name.indexOf('\uFFFD') >= 0) {
            badName(directory.child(name), visitor);
            return;
        }
        BasicFileAttributes attributes;
        boolean isLink;
        try {
            attributes = Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            isLink = attributes.isSymbolicLink();
            if (isLink) {
                if (tree.links() == FileTree.Links.SKIP) {
                    visitor.skip(FileSkip.LINK, directory.child(name));
                    return;
                }
                attributes = followed(directory.child(name), entry, visitor);
                if (attributes == null) {
                    return;
                }
            }
        } catch (NoSuchFileException e) {
            visitor.skip(FileSkip.VANISHED, directory.child(name));
            return;
        } catch (IOException e) {
            unreadable(directory.child(name), e, visitor);
            return;
        }
        if (attributes.isRegularFile()) {
            // An empty sidecar is an empty value, not an accident.
            if (attributes.size() == 0
                    && tree.empty() == FileTree.Empty.SKIP
                    && tree.sidecars().stream().noneMatch(name::endsWith)) {
                visitor.skip(FileSkip.EMPTY, directory.child(name));
            } else {
                files.file(
                        name, attributes.size(), attributes.lastModifiedTime().toMillis(), NO_SIDECARS);
            }
        } else if (attributes.isDirectory()) {
            if (isLink) {
                linkedDirectory(directory, entry, name, visitor);
            } else {
                visitor.directory(directory.directory(name));
            }
        } else {
            visitor.skip(FileSkip.SPECIAL, directory.child(name));
        }
    }

    private BasicFileAttributes followed(String path, Path entry, Visitor visitor) throws IOException {
        try {
            return Files.readAttributes(entry, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            visitor.skip(FileSkip.BROKEN_LINK, path);
        } catch (IOException e) {
            // Links that lead to each other: the kernel gives up.
            if (e.getMessage() == null || !e.getMessage().contains("symbolic links")) {
                throw e;
            }
            visitor.skip(FileSkip.LOOP, path);
        }
        return null;
    }

    private void linkedDirectory(DirectorySplit directory, Path entry, String name, Visitor visitor)
            throws IOException {
        String real;
        String here;
        String start;
        try {
            real = entry.toRealPath().toString();
            here = entry.getParent().toRealPath().toString();
            start = directory.jumps().isEmpty()
                    ? Path.of(tree.root()).toRealPath().toString()
                    : entryOfLastJump(directory).toRealPath().toString();
        } catch (NoSuchFileException e) {
            visitor.skip(FileSkip.VANISHED, directory.child(name));
            return;
        } catch (IOException e) {
            unreadable(directory.child(name), e, visitor);
            return;
        }
        DirectorySplit.Jump stretch = new DirectorySplit.Jump(start, here);
        boolean isLoop = directory.jumps().size() >= DirectorySplit.MAX_JUMPS
                || stretch.passes(real)
                || directory.jumps().stream().anyMatch(jump -> jump.passes(real));
        if (isLoop) {
            visitor.skip(FileSkip.LOOP, directory.child(name));
        } else {
            visitor.directory(directory.linked(name, stretch));
        }
    }

    /** The innermost link on the way to the directory: where the present stretch of real directories begins. */
    private Path entryOfLastJump(DirectorySplit directory) throws IOException {
        Path root = Path.of(tree.root());
        Path path = root;
        Path found = root;
        for (String part : directory.path().split("/")) {
            path = path.resolve(part);
            if (Files.isSymbolicLink(path)) {
                found = path;
            }
        }
        return found;
    }

    private void badName(String path, Visitor visitor) throws IOException {
        if (tree.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException("The name of " + tree.path(path) + " is not UTF-8"
                    + " (this JVM decodes names as " + System.getProperty("sun.jnu.encoding")
                    + "): rename the file, set LC_ALL=C.UTF-8, or leave such files out with --on-error skip");
        }
        visitor.skip(FileSkip.BAD_NAME, path);
    }

    private void unreadable(String path, IOException cause, Visitor visitor) throws IOException {
        if (tree.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException(tree.path(path), cause);
        }
        visitor.skip(FileSkip.UNREADABLE, path);
    }
}

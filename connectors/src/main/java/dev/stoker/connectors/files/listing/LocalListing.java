package dev.stoker.connectors.files.listing;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Lists directories of mounted file systems: one {@code lstat} per entry, one more per link. */
final class LocalListing implements Listing {

    private final FileTree tree;
    private final TreeRules rules;

    LocalListing(FileTree tree) {
        this.tree = tree;
        this.rules = new TreeRules(tree);
    }

    @Override
    public void list(DirectorySplit directory, DirectoryLister.Visitor visitor) throws IOException {
        Path path = Path.of(tree.path(directory.path()));
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(path)) {
            for (Path entry : tree.sorted() ? sorted(stream) : stream) {
                visit(directory, entry, visitor);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static List<Path> sorted(DirectoryStream<Path> stream) {
        List<Path> paths = new ArrayList<>();
        stream.forEach(paths::add);
        paths.sort(Comparator.comparing(Path::getFileName));
        return paths;
    }

    private void visit(DirectorySplit directory, Path entry, DirectoryLister.Visitor visitor) throws IOException {
        String name = entry.getFileName().toString();
        if (rules.isHidden(name)) {
            visitor.skip(FileSkip.HIDDEN, directory.child(name));
            return;
        }
        // The JVM replaces bytes that it cannot decode; no String refers to such a file.
        if (name.indexOf('\uFFFD') >= 0) {
            rules.badName(directory.child(name), visitor);
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
            rules.unreadable(directory.child(name), e, visitor);
            return;
        }
        if (attributes.isRegularFile()) {
            rules.file(
                    directory,
                    name,
                    attributes.size(),
                    attributes.lastModifiedTime().toMillis(),
                    visitor);
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

    private @Nullable BasicFileAttributes followed(String path, Path entry, DirectoryLister.Visitor visitor)
            throws IOException {
        try {
            return Files.readAttributes(entry, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            visitor.skip(FileSkip.BROKEN_LINK, path);
        } catch (IOException e) {
            // Links that form a cycle: the kernel returns an error.
            if (e.getMessage() == null || !e.getMessage().contains("symbolic links")) {
                throw e;
            }
            visitor.skip(FileSkip.LOOP, path);
        }
        return null;
    }

    private void linkedDirectory(DirectorySplit directory, Path entry, String name, DirectoryLister.Visitor visitor)
            throws IOException {
        String real;
        String here;
        String start;
        try {
            real = entry.toRealPath().toString();
            here = Objects.requireNonNull(entry.getParent(), "an entry lies in a directory")
                    .toRealPath()
                    .toString();
            start = directory.jumps().isEmpty()
                    ? Path.of(tree.root()).toRealPath().toString()
                    : entryOfLastJump(directory).toRealPath().toString();
        } catch (NoSuchFileException e) {
            visitor.skip(FileSkip.VANISHED, directory.child(name));
            return;
        } catch (IOException e) {
            rules.unreadable(directory.child(name), e, visitor);
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
        for (String part : directory.path().split("/", -1)) {
            path = path.resolve(part);
            if (Files.isSymbolicLink(path)) {
                found = path;
            }
        }
        return found;
    }

    @Override
    public void close() {}
}

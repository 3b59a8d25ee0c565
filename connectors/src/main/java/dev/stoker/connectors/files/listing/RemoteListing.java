package dev.stoker.connectors.files.listing;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.storage.SourceTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Lists directories of other file systems: one listing each, without requests for single entries. */
final class RemoteListing implements Listing {

    /** No real tree is this deep: links form a cycle. */
    private static final int MAX_DEPTH = 256;

    private static final Comparator<SourceTree.Entry> BY_BYTES_OF_NAME = (a, b) -> Arrays.compareUnsigned(
            a.name().getBytes(StandardCharsets.UTF_8), b.name().getBytes(StandardCharsets.UTF_8));

    private final FileTree tree;
    private final TreeRules rules;
    private final SourceTree source;

    /** @param source is closed with the listing */
    RemoteListing(FileTree tree, SourceTree source) {
        this.tree = tree;
        this.rules = new TreeRules(tree);
        this.source = source;
    }

    @Override
    public void list(DirectorySplit directory, DirectoryLister.Visitor visitor) throws IOException {
        if (!tree.sorted()) {
            source.list(directory.path(), entry -> visit(directory, entry, visitor));
            return;
        }
        List<SourceTree.Entry> entries = new ArrayList<>();
        source.list(directory.path(), entries::add);
        entries.sort(BY_BYTES_OF_NAME);
        for (SourceTree.Entry entry : entries) {
            visit(directory, entry, visitor);
        }
    }

    private void visit(DirectorySplit directory, SourceTree.Entry entry, DirectoryLister.Visitor visitor)
            throws IOException {
        String name = entry.name();
        if (rules.isHidden(name)) {
            visitor.skip(FileSkip.HIDDEN, directory.child(name));
            return;
        }
        if (name.indexOf('\uFFFD') >= 0) {
            rules.badName(directory.child(name), visitor);
            return;
        }
        switch (entry.kind()) {
            case FILE -> rules.file(directory, name, entry.length(), entry.modifiedMs(), visitor);
            case BROKEN_LINK -> visitor.skip(FileSkip.BROKEN_LINK, directory.child(name));
            case DIRECTORY -> {
                if (directory.path().chars().filter(c -> c == '/').count() >= MAX_DEPTH) {
                    visitor.skip(FileSkip.LOOP, directory.child(name));
                } else {
                    visitor.directory(directory.directory(name));
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}

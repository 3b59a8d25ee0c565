package dev.stoker.mount.tree;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A directory with entries that are known.
 *
 * @param entries its entries
 * @param modifiedMs its time
 */
record FixedDirectory(List<Listed> entries, long modifiedMs) implements Node.Directory {

    FixedDirectory {
        entries = List.copyOf(entries);
    }

    @Override
    public DirectoryListing list() {
        Iterator<Listed> left = entries.iterator();
        return () -> left.hasNext() ? Optional.of(left.next()) : Optional.empty();
    }
}

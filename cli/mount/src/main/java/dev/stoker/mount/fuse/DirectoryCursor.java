package dev.stoker.mount.fuse;

import dev.stoker.mount.tree.DirectoryListing;
import dev.stoker.mount.tree.Listed;
import dev.stoker.mount.tree.Node;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A listing that the kernel reads in parts. Entry 0 is {@code .}, entry 1 {@code ..}. The kernel may ask again for
 * entries that it had no room for, and go back. Owned by one open directory, whose calls the kernel serializes; the
 * monitor guards it all the same.
 */
final class DirectoryCursor implements AutoCloseable {

    private final Node.Directory directory;
    private @Nullable DirectoryListing listing;
    /** Number of the entry that {@link #pending} is, or that the listing returns next. */
    private long position;

    private Optional<Listed> pending = Optional.empty();

    DirectoryCursor(Node.Directory directory) {
        this.directory = directory;
    }

    /** Receives entries. */
    interface Filler {
        /**
         * Takes an entry.
         *
         * @param next number of the entry after it
         * @return false if there is no room for it
         */
        boolean add(Listed entry, long next);
    }

    /** Hands out entries until there is no room. */
    synchronized void fill(long from, Filler filler) throws IOException {
        if (from < position || listing == null) {
            rewind();
        }
        Optional<Listed> entry = next();
        while (entry.isPresent()) {
            if (position >= from && !filler.add(entry.get(), position + 1)) {
                pending = entry;
                return;
            }
            position++;
            entry = next();
        }
    }

    private void rewind() throws IOException {
        close();
        listing = directory.list();
        position = 0;
    }

    private Optional<Listed> next() throws IOException {
        if (pending.isPresent()) {
            Optional<Listed> entry = pending;
            pending = Optional.empty();
            return entry;
        }
        if (position < 2) {
            return Optional.of(new Listed(position == 0 ? "." : "..", true));
        }
        DirectoryListing open = listing;
        return open == null ? Optional.empty() : open.next();
    }

    @Override
    public synchronized void close() {
        if (listing != null) {
            listing.close();
            listing = null;
        }
        pending = Optional.empty();
    }
}

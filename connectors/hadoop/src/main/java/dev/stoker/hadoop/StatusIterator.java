package dev.stoker.hadoop;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleListing;
import java.io.IOException;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.hadoop.fs.RemoteIterator;

/** The entries of a listing as files and directories, in the order of their keys. Reads while it advances. */
final class StatusIterator implements RemoteIterator<SampleStatus> {

    /** Makes the status of a file or a directory. */
    interface Statuses {

        /** @param isBesideDirectory whether the key of the file is also a directory */
        SampleStatus of(ListEntry entry, boolean isBesideDirectory) throws IOException;
    }

    private final SampleTree tree;
    private final SampleListing listing;
    private final Statuses statuses;
    private Optional<ListEntry> next;

    StatusIterator(SampleTree tree, SampleListing listing, Statuses statuses) throws IOException {
        this.tree = tree;
        this.listing = listing;
        this.statuses = statuses;
        this.next = listing.next();
    }

    @Override
    public boolean hasNext() {
        return next.isPresent();
    }

    @Override
    public SampleStatus next() throws IOException {
        ListEntry entry = next.orElseThrow(NoSuchElementException::new);
        next = listing.next();
        return statuses.of(entry, !entry.isPrefix() && isDirectory(entry.name()));
    }

    /** Returns whether the key of the entry before {@link #next} is also a directory. */
    private boolean isDirectory(String key) throws IOException {
        String after = next.map(ListEntry::name).orElse("");
        if (!after.startsWith(key) || after.length() == key.length()) {
            return false;
        }
        char first = after.charAt(key.length());
        // Keys such as "a.txt" are listed between "a" and "a/".
        return first == '/' || (first < '/' && tree.hasKeys(key + "/"));
    }
}

package dev.stoker.hadoop;

import dev.stoker.metadata.files.SampleDirectory;
import dev.stoker.metadata.files.SamplePath;
import java.io.IOException;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.hadoop.fs.RemoteIterator;

/** The entries of a listing with their status, in the order of their keys. Reads while it advances. */
final class StatusIterator implements RemoteIterator<SampleStatus> {

    /** Makes the status of a file or a directory. */
    interface Statuses {
        SampleStatus of(SamplePath path) throws IOException;
    }

    private final SampleDirectory.Entries entries;
    private final Statuses statuses;
    private Optional<SamplePath> next;

    StatusIterator(SampleDirectory.Entries entries, Statuses statuses) throws IOException {
        this.entries = entries;
        this.statuses = statuses;
        this.next = entries.next();
    }

    @Override
    public boolean hasNext() {
        return next.isPresent();
    }

    @Override
    public SampleStatus next() throws IOException {
        SamplePath path = next.orElseThrow(NoSuchElementException::new);
        next = entries.next();
        return statuses.of(path);
    }
}

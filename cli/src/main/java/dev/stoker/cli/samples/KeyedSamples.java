package dev.stoker.cli.samples;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The samples of one version by key: of a dataset, or of a running feed. For one thread. */
public interface KeyedSamples extends AutoCloseable {

    /** Entries of a listing, one after the other. */
    interface Listing {
        /** Returns the next entry; empty at the end. */
        Optional<ListEntry> next() throws IOException;
    }

    long version();

    /** Returns the dataset's fields. */
    List<Field> fields();

    /** Returns what is known about samples; empty for a key that the version does not have. */
    List<Optional<SampleStat>> stat(List<String> keys) throws IOException;

    /** Reads and verifies samples; empty for a key that the version does not have. */
    List<Optional<ReadSample>> get(List<String> keys) throws IOException;

    /** Lists samples; see {@link dev.stoker.metadata.index.SampleIndex#list}. */
    Listing list(String prefix, String delimiter);

    @Override
    void close() throws IOException;
}

package dev.stoker.cli.samples;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The samples of a dataset, read from its store. */
final class StoredSamples implements KeyedSamples {

    private final OpenDataset open;
    private final OpenIndex lookups;
    private final SampleIndex index;

    private StoredSamples(OpenDataset open, OpenIndex lookups) {
        this.open = open;
        this.lookups = lookups;
        this.index = lookups.index();
    }

    /** @param redis the server that lookups ask first, if there is one */
    static StoredSamples open(String path, VersionOptions version, RedisOption redis) throws IOException {
        OpenDataset open = OpenDataset.open(path, version);
        try {
            return new StoredSamples(open, OpenIndex.open(open, redis));
        } catch (IOException | RuntimeException e) {
            open.close();
            throw e;
        }
    }

    @Override
    public long version() {
        return index.version();
    }

    @Override
    public List<Field> fields() {
        return lookups.snapshot().info().fields();
    }

    @Override
    public List<Optional<SampleStat>> stat(List<String> keys) throws IOException {
        return index.stat(keys);
    }

    @Override
    public List<Optional<ReadSample>> get(List<String> keys) throws IOException {
        return index.get(keys).stream()
                .map(sample -> sample.map(ReadSample::of))
                .toList();
    }

    @Override
    public Listing list(String prefix, String delimiter) {
        SampleListing listing = index.list(prefix, delimiter);
        return listing::next;
    }

    @Override
    public void close() throws IOException {
        lookups.close();
        open.close();
    }
}

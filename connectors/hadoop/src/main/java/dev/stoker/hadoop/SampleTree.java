package dev.stoker.hadoop;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.metadata.files.KeyTree;
import dev.stoker.metadata.index.ConfirmedSample;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.samples.CheckedPayload;
import dev.stoker.metadata.samples.HeadCache;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The samples of one version as files. Directories exist because of the keys of samples. Thread-safe. Closing it closes
 * the store.
 */
final class SampleTree implements Closeable {

    private final Dataset dataset;
    private final ChunkTable table;
    private final SampleIndex index;
    private final KeyTree files;
    private final ContentField field;
    private final HeadCache heads;
    private final ChunkReads reads;
    private final long wholeSampleBytes;
    private final long committedMs;

    private SampleTree(Dataset dataset, Snapshot snapshot, FileSystemSettings settings, ContentField field)
            throws IOException {
        ObjectStore store = dataset.store();
        this.dataset = dataset;
        this.table = snapshot.table();
        this.index = settings.dataset().split().isPresent()
                ? SampleIndex.ofSplit(
                        dataset, snapshot, settings.dataset().split().get())
                : SampleIndex.open(dataset, snapshot);
        this.files = new KeyTree(index);
        this.field = field;
        this.heads = new HeadCache(settings.headCacheBytes());
        this.reads = new ChunkReads(store, table, field.index(), settings.chunkCacheBytes());
        this.wholeSampleBytes = settings.wholeSampleBytes();
        this.committedMs = dataset.entry(table.version()).committedMs();
    }

    /** Opens the version that the settings name, or the newest one. */
    static SampleTree open(FileSystemSettings settings) throws IOException {
        ObjectStore store = Stores.open(settings.dataset().path(), settings.store());
        try {
            return open(store, settings);
        } catch (IOException | RuntimeException e) {
            try {
                store.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    /** As the other method, in a store that is open. The tree closes it. */
    static SampleTree open(ObjectStore store, FileSystemSettings settings) throws IOException {
        Dataset dataset = Dataset.open(store);
        Snapshot snapshot = settings.dataset().open(dataset);
        if (settings.dataset().split().isPresent()) {
            // Throws an exception with the known splits if this one does not exist.
            snapshot.stream(settings.dataset().split().get());
        }
        return new SampleTree(dataset, snapshot, settings, field(dataset, snapshot, settings));
    }

    private static ContentField field(Dataset dataset, Snapshot snapshot, FileSystemSettings settings)
            throws IOException {
        try {
            return ContentField.choose(
                    dataset.where(),
                    snapshot.info().fields(),
                    settings.field().orElse(null),
                    FileSystemSettings.FIELD + settings.name());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    /** Returns the dataset and the version for people. */
    @Override
    public String toString() {
        return "version " + table.version() + " of " + dataset.where();
    }

    /** Returns the time when the version was committed. */
    long committedMs() {
        return committedMs;
    }

    /** Returns what a path names; empty if nothing. See {@link KeyTree#find}. */
    Optional<KeyTree.Found> find(List<String> names) throws IOException {
        return files.find(names);
    }

    /** Returns the length and the checksum of a file. Reads the head of its chunk if the sample index lacks them. */
    ContentDigest contents(SampleStat sample) throws IOException {
        OptionalLong length = field.length(sample, table);
        if (length.isPresent()) {
            return new ContentDigest(length.getAsLong(), sample.crc32c());
        }
        try {
            ConfirmedSample<PlacedChunk> place = place(sample);
            return ContentDigest.of(field, place.chunk().head(), place.stat().row());
        } catch (IOException e) {
            throw failed(sample, e);
        }
    }

    /** Reads and verifies the contents of a file. */
    SampleContent read(SampleStat sample) throws IOException {
        try {
            ConfirmedSample<PlacedChunk> place = place(sample);
            ChunkHead head = place.chunk().head();
            int row = place.stat().row();
            requireLength(sample, ContentDigest.of(field, head, row).length());
            if (!field.isPayload()) {
                return SampleContent.of(head.column(field.index()).bytesAt(row));
            }
            CheckedPayload value = reads.value(place.chunk().index(), head, row);
            return value.length() <= wholeSampleBytes
                    ? SampleContent.of(reads.read(place.chunk().index(), value))
                    : failing(sample, new LargeContent(reads, place.chunk().index(), value));
        } catch (IOException e) {
            throw failed(sample, e);
        }
    }

    /** Checks the length that the file's status has. */
    private void requireLength(SampleStat sample, long length) throws CorruptDataException {
        long indexed = field.length(sample, table).orElse(length);
        if (indexed != length) {
            throw new CorruptDataException("the sample index has a length of " + indexed + " bytes, the chunk has "
                    + length + " bytes; " + rebuildIndex());
        }
    }

    private String rebuildIndex() {
        return "build the index again with `stoker index --rebuild " + ShellText.word(dataset.where()) + "`";
    }

    private SampleContent failing(SampleStat sample, SampleContent content) {
        return (position, target, offset, length) -> {
            try {
                return content.read(position, target, offset, length);
            } catch (IOException e) {
                throw failed(sample, e);
            }
        };
    }

    private IOException failed(SampleStat sample, IOException e) {
        return new IOException(
                "Cannot read sample '" + sample.key() + "' in row " + sample.row() + " of chunk " + sample.ordinal()
                        + " of " + this + ": " + e.getMessage(),
                e);
    }

    /** A chunk of the version, with its head. */
    private record PlacedChunk(int index, ChunkHead head) implements ConfirmedSample.Chunk {}

    private ConfirmedSample<PlacedChunk> place(SampleStat wanted) throws IOException {
        return ConfirmedSample.require(index, wanted, sample -> {
            int chunk = table.indexOf(sample.ordinal());
            return new PlacedChunk(chunk, heads.get(dataset.store(), table, chunk));
        });
    }

    @Override
    public void close() throws IOException {
        dataset.store().close();
    }
}

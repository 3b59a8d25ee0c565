package dev.stoker.mount.tree;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.UnknownSplitException;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.metadata.files.KeyTree;
import dev.stoker.metadata.index.ConfirmedSample;
import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.metadata.samples.HeadCache;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.VerifiedHeads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One version of a dataset as a tree. It stays usable as long as it is retained: by the tree that shows it, and by each
 * open file and listing. Thread-safe.
 */
final class OpenVersion {

    /** What the versions of a dataset share. */
    record Shared(Dataset dataset, ChunkSource source, HeadCache heads, CommitTimes times, Executor background) {}

    private final Shared shared;
    private final Snapshot snapshot;
    private final ContentField content;
    private final SampleIndex index;
    private final KeyTree files;
    private final Map<String, ServedStream> streams = new HashMap<>();
    private final MountedChunks chunks;
    private final NextSamples next;
    private final long committedMs;
    private final AtomicInteger holds = new AtomicInteger(1);
    private final Runnable onClose;

    /**
     * @param field the field that is the content of the files; null for the usual one
     * @param onClose runs when the last user has released the version
     * @throws IllegalArgumentException if the version has no such field
     */
    OpenVersion(Shared shared, Snapshot snapshot, @Nullable String field, Runnable onClose) throws IOException {
        this.shared = shared;
        this.snapshot = snapshot;
        this.content =
                ContentField.choose(shared.dataset().where(), snapshot.info().fields(), field, "--field");
        this.index = SampleIndex.open(shared.dataset(), snapshot);
        this.files = new KeyTree(index);
        this.committedMs = shared.times().of(snapshot.version());
        for (String split : snapshot.splits()) {
            streams.put(split, stream(split));
        }
        this.chunks = new MountedChunks(shared.source());
        this.next = new NextSamples(index, this::readAhead, shared.background());
        this.onClose = onClose;
    }

    private ServedStream stream(String split) throws UnknownSplitException {
        Dataset dataset = shared.dataset();
        return new ServedStream(
                dataset.info().name(),
                dataset.info().id(),
                dataset.info().name(),
                snapshot.version(),
                split,
                snapshot.stream(split),
                snapshot.info().fields(),
                snapshot.classes(),
                shared.source());
    }

    long number() {
        return snapshot.version();
    }

    long committedMs() {
        return committedMs;
    }

    /** Returns the field that is the content of the files. */
    ContentField content() {
        return content;
    }

    MountedChunks chunks() {
        return chunks;
    }

    /** Returns the directory of all keys. */
    KeyDirectory root() {
        return new KeyDirectory(this, files.root());
    }

    NextSamples next() {
        return next;
    }

    Snapshot snapshot() {
        return snapshot;
    }

    /** Keeps the version usable until {@link #release}. */
    void retain() {
        holds.incrementAndGet();
    }

    void release() {
        if (holds.decrementAndGet() == 0) {
            next.close();
            chunks.close();
            onClose.run();
        }
    }

    /** Has all chunks placed in tiers with room. */
    void warm() {
        for (ServedStream stream : streams.values()) {
            for (int i = 0; i < stream.chunks().size(); i++) {
                if (stream.chunks().isLive(i)) {
                    shared.source().warm(stream.file(i), i);
                }
            }
        }
    }

    /** Returns what a path below the root of the version names; empty if nothing. */
    Optional<Node> find(List<String> names) throws IOException {
        Optional<KeyTree.Found> found = files.find(names);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                found.get() instanceof KeyTree.Found.File file
                        ? file(file.sample())
                        : new KeyDirectory(this, ((KeyTree.Found.Directory) found.get()).directory()));
    }

    private Node file(SampleStat stat) throws IOException {
        OptionalLong known = content.length(stat, snapshot.table());
        long size = known.isPresent() ? known.getAsLong() : place(stat).length();
        return new SampleFile(this, stat, size, modifiedMs(stat));
    }

    private long modifiedMs(SampleStat stat) throws IOException {
        if (!content.isPayload()) {
            // An update may have changed it.
            return committedMs;
        }
        return shared.times().of(snapshot.table().addedIn(snapshot.table().indexOf(stat.ordinal())));
    }

    /** A chunk of a split, with its head. */
    private record PlacedChunk(ServedStream stream, int index, ListedChunk file, ChunkHead head)
            implements ConfirmedSample.Chunk {}

    /** Reads the head of a sample's chunk. */
    ContentAddress place(SampleStat stat) throws IOException {
        ConfirmedSample<PlacedChunk> at = ConfirmedSample.require(index, stat, this::chunk);
        PlacedChunk chunk = at.chunk();
        return new ContentAddress(
                stat.key(),
                chunk.stream(),
                chunk.index(),
                chunk.file(),
                chunk.head(),
                content.index(),
                at.stat().row(),
                modifiedMs(at.stat()));
    }

    private PlacedChunk chunk(SampleStat at) throws IOException {
        ServedStream stream = streams.get(at.split());
        if (stream == null) {
            throw new CorruptDataException("the sample '" + at.key() + "' is in the unknown split " + at.split());
        }
        int chunk = stream.chunks().indexOf(at.ordinal());
        ListedChunk file = stream.file(chunk);
        ChunkHead head = shared.heads().get(stream.chunks(), chunk, () -> VerifiedHeads.readAlone(stream, chunk, file));
        return new PlacedChunk(stream, chunk, file, head);
    }

    private Optional<ByteBuffer> readAhead(ListEntry entry) throws IOException {
        ContentAddress place = place(entry.sample().orElseThrow());
        if (place.length() > OpenSample.KEPT_BYTES) {
            return Optional.empty();
        }
        ByteBuffer content = ByteBuffer.allocate(place.length());
        chunks.read(place.chunk(), place.value().position(), content.slice());
        // A damaged sample is read once more, and reported, when a program reads it.
        return place.value().is(content) ? Optional.of(content) : Optional.empty();
    }

    /** A file of the version. */
    private record SampleFile(OpenVersion version, SampleStat stat, long size, long modifiedMs) implements Node.File {

        @Override
        public OpenSample open() throws IOException {
            return new OpenSample(version, version.place(stat));
        }
    }
}

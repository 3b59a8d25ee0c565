package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.metadata.ChunkWrites;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of planned chunks and writes the chunks. Each file takes one open, one read and one close: the walk
 * has determined its length, and a read that returns exactly this number of bytes confirms it. For one thread at a
 * time; reuses its memory.
 */
final class ChunkPacker {

    /** The largest payload. */
    private static final long MAX_SAMPLE_BYTES = 1L << 30;
    /** No chunk may reach 2^31; this leaves room for its head. */
    private static final long MAX_CHUNK_BYTES = (1L << 31) - (64L << 20);
    /** How often a file that changes while it is read is read again. */
    private static final int ATTEMPTS = 3;

    private static final SecureRandom RANDOM = new SecureRandom();

    private final PackPlan plan;
    private final Patience patience;
    private final ObjectStore store;
    private final SampleReads reads;
    private final Optional<Labels> labels;
    private final DatasetInfo info;
    private final List<Field> fields;
    private final int content;
    private final int label;
    private ChunkBuilder builder;
    private ByteBuffer scratch = ByteBuffer.allocateDirect(64 << 10);

    private List<ChunkSummary> chunks = new ArrayList<>();
    private Map<String, SortedSet<String>> classes = new TreeMap<>();
    private SkipCounts skipped = new SkipCounts();
    private List<StoredRow> replaced = new ArrayList<>();
    private long samples;
    private long bytes;
    private long contentBytes;

    ChunkPacker(
            PackPlan plan,
            DatasetInfo info,
            ObjectStore store,
            SampleReads reads,
            Optional<Labels> labels,
            Patience patience) {
        this.plan = plan;
        this.patience = patience;
        this.store = store;
        this.reads = reads;
        this.labels = labels;
        this.info = info;
        this.fields = info.fields();
        content = indexOf(plan.content());
        label = plan.labelled().map(l -> indexOf(l.field())).orElse(-1);
        builder = newBuilder();
    }

    private ChunkBuilder newBuilder() {
        return new ChunkBuilder(fields, plan.chunkSizeBytes());
    }

    private int indexOf(String field) {
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).name().equals(field)) {
                return i;
            }
        }
        throw new IllegalArgumentException("The dataset has no field " + field);
    }

    /** Reads and writes one planned chunk. The returned chunk is durable. */
    Packed pack(PlannedChunk planned) throws IOException, InterruptedException {
        chunks = new ArrayList<>();
        classes = new TreeMap<>();
        skipped = new SkipCounts();
        replaced = new ArrayList<>();
        samples = 0;
        bytes = 0;
        reads.begin(wanted(planned));
        try {
            for (int i = 0; i < planned.files().size(); i++) {
                boolean isPacked = add(planned.files().get(i), planned.split());
                StoredRow stored = planned.replaced(i);
                // The sample of a file that was left out stays.
                if (isPacked && stored != null) {
                    replaced.add(stored);
                }
            }
        } finally {
            reads.end();
        }
        write(planned.split());
        if (planned.length() > 2L * plan.chunkSizeBytes()) {
            // The memory of an oversized chunk is not kept for ordinary chunks.
            builder = newBuilder();
        }
        return new Packed(chunks, classes, skipped, replaced, samples, bytes);
    }

    /** The files that {@link #add} will open, in order. */
    private List<SampleReads.Wanted> wanted(PlannedChunk planned) {
        List<Sidecar> sidecars = plan.sidecarList();
        List<SampleReads.Wanted> wanted = new ArrayList<>();
        for (FileEntry file : planned.files()) {
            String key = file.path();
            wanted.add(new SampleReads.Wanted(key, file.size()));
            for (int i = 0; i < sidecars.size(); i++) {
                if (file.sidecars()[i] >= 0) {
                    String sidecar =
                            DirectoryLister.sidecarOf(key, sidecars.get(i).ending());
                    wanted.add(new SampleReads.Wanted(sidecar, file.sidecars()[i]));
                }
            }
        }
        return wanted;
    }

    /** Returns whether the file is a sample of a chunk. */
    private boolean add(FileEntry file, String split) throws IOException, InterruptedException {
        String key = file.path();
        if (file.size() > MAX_SAMPLE_BYTES) {
            tooLarge(key, file.size());
            return false;
        }
        if (builder.lengthWith(file.size()) > MAX_CHUNK_BYTES) {
            write(split);
        }
        if (patience.call("Reading the source", () -> set(file, key))) {
            builder.endRow();
            samples++;
            bytes += contentBytes;
            return true;
        }
        return false;
    }

    /** Begins a row and sets its fields. There is no row if it returns false or throws. */
    private boolean set(FileEntry file, String key) throws IOException {
        builder.beginRow(key);
        boolean isComplete = false;
        try {
            isComplete = setLabel(key) && setContent(file, key) && setSidecars(file, key);
            return isComplete;
        } finally {
            if (!isComplete) {
                builder.abandonRow();
            }
        }
    }

    private boolean setLabel(String key) throws IOException {
        if (label < 0) {
            return true;
        }
        Optional<String> name = labels.orElseThrow().of(key);
        if (name.isEmpty()) {
            return leaveOut(FileSkip.NO_LABEL, key, labels.orElseThrow().missing(key), null);
        }
        try {
            builder.setClass(label, name.get());
            return true;
        } catch (IllegalArgumentException e) {
            return leaveOut(
                    FileSkip.NO_LABEL,
                    key,
                    "the label of " + plan.tree().path(key) + " cannot be a class: " + e.getMessage()
                            + "; correct it, or leave such samples out with --on-error skip",
                    e);
        }
    }

    private boolean setContent(FileEntry file, String key) throws IOException {
        try {
            long read = fields.get(content).payload() ? readPayload(file.size(), key) : readSmall(key);
            if (read < 0) {
                return false;
            }
            contentBytes = read;
            return true;
        } catch (NoSuchFileException e) {
            skipped.add(FileSkip.VANISHED, key);
            return false;
        } catch (ClosedByInterruptException | UnreadableException e) {
            throw e;
        } catch (IOException e) {
            if (FailureKind.isSilence(e)) {
                throw e;
            }
            return leaveOut(FileSkip.UNREADABLE, key, null, e);
        }
    }

    /** Reads the file directly into the chunk. Returns its size, or -1 if it was left out. */
    private long readPayload(long expected, String key) throws IOException {
        try (SeekableByteChannel channel = reads.open(key, expected)) {
            ByteBuffer room = builder.reserve(content, (int) expected + 1);
            int start = room.position();
            if (readTo(channel, room) == expected) {
                if (!isText(room.duplicate().limit(start + (int) expected).position(start), content, key)) {
                    return -1;
                }
                builder.commit(content, (int) expected);
                return expected;
            }
        }
        return readChanging(expected, key);
    }

    /** The file's length has changed: retries until a read is not disturbed by a writer. */
    private long readChanging(long expected, String key) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try (SeekableByteChannel channel = reads.open(key, -1)) {
                long size = channel.size();
                if (size > MAX_SAMPLE_BYTES) {
                    tooLarge(key, size);
                    return -1;
                }
                ByteBuffer room = builder.reserve(content, (int) size + 1);
                int start = room.position();
                if (readTo(channel, room) == size && channel.size() == size) {
                    if (!isText(room.duplicate().limit(start + (int) size).position(start), content, key)) {
                        return -1;
                    }
                    builder.commit(content, (int) size);
                    if (size != expected) {
                        skipped.add(FileSkip.CHANGED, key);
                    }
                    return size;
                }
            }
        }
        throw new IOException("it is being written while it is read");
    }

    private long readSmall(String key) throws IOException {
        ByteBuffer value = readWhole(key);
        int length = value.remaining();
        if (!isText(value, content, key)) {
            return -1;
        }
        builder.setBytes(content, value);
        return length;
    }

    private boolean isText(ByteBuffer value, int field, String key) throws IOException {
        if (!fields.get(field).type().canonical().equals("utf8") || FieldValue.isUtf8(value)) {
            return true;
        }
        return leaveOut(
                FileSkip.UNREADABLE,
                key,
                plan.tree().path(key) + " is not UTF-8; make the field binary with --field "
                        + fields.get(field).name() + ":binary, or leave such files out with --on-error skip",
                null);
    }

    private boolean setSidecars(FileEntry file, String key) throws IOException {
        List<Sidecar> sidecars = plan.sidecarList();
        for (int i = 0; i < sidecars.size(); i++) {
            Sidecar sidecar = sidecars.get(i);
            int field = indexOf(sidecar.field());
            String path = DirectoryLister.sidecarOf(key, sidecar.ending());
            boolean isSet = false;
            if (file.sidecars()[i] >= 0) {
                try {
                    FieldValue.set(builder, field, sidecar.type(), readWhole(path));
                    isSet = true;
                } catch (NoSuchFileException e) {
                    skipped.add(FileSkip.VANISHED, path);
                } catch (IllegalArgumentException e) {
                    return leaveOut(
                            FileSkip.UNREADABLE,
                            key,
                            plan.tree().path(path) + " gives no " + sidecar.type() + " for the field " + sidecar.field()
                                    + ": "
                                    + e.getMessage()
                                    + "; correct it, or leave such samples out with --on-error skip",
                            e);
                } catch (ClosedByInterruptException e) {
                    throw e;
                } catch (IOException e) {
                    if (FailureKind.isSilence(e)) {
                        throw e;
                    }
                    return leaveOut(FileSkip.UNREADABLE, key, null, e);
                }
            }
            if (!isSet) {
                if (!fields.get(field).nullable()) {
                    return leaveOut(
                            FileSkip.NO_SIDECAR,
                            key,
                            key + " has no sidecar " + sidecar.ending() + ", but the field "
                                    + sidecar.field() + " cannot be empty; add the file, or leave such samples"
                                    + " out with --on-error skip",
                            null);
                }
                builder.setNull(field);
            }
        }
        return true;
    }

    /** Reads a small file into the scratch buffer and returns this buffer, positioned at the file's start. */
    private ByteBuffer readWhole(String key) throws IOException {
        try (SeekableByteChannel channel = reads.open(key, -1)) {
            scratch.clear();
            while (readTo(channel, scratch) >= 0 && !scratch.hasRemaining()) {
                if (scratch.capacity() >= MAX_SAMPLE_BYTES) {
                    throw new IOException("it is larger than 1 GiB");
                }
                scratch = ByteBuffer.allocateDirect(scratch.capacity() * 2).put(scratch.flip());
            }
            return scratch.flip();
        }
    }

    /** Reads until the buffer is full or the file ends; returns the bytes read. */
    private static long readTo(SeekableByteChannel channel, ByteBuffer target) throws IOException {
        int start = target.position();
        int asked = target.remaining();
        int read = channel.read(target);
        // A file returns fewer bytes than requested only at its end, so a second read is not needed.
        while (read > 0 && read == asked && target.hasRemaining()) {
            asked = target.remaining();
            read = channel.read(target);
        }
        return (long) target.position() - start;
    }

    private void tooLarge(String key, long size) throws IOException {
        leaveOut(
                FileSkip.TOO_LARGE,
                key,
                plan.tree().path(key) + " has " + size + " bytes; a sample may have at most " + MAX_SAMPLE_BYTES
                        + "; split it, or leave such files out with --on-error skip",
                null);
    }

    /** Fails, or counts the file as left out. Returns false. */
    private boolean leaveOut(FileSkip reason, String key, @Nullable String message, @Nullable Exception cause)
            throws IOException {
        if (plan.tree().errors() == FileTree.Errors.FAIL) {
            if (message == null) {
                throw new UnreadableException(
                        plan.tree().path(key), (IOException) Objects.requireNonNull(cause, "a message or a cause"));
            }
            throw new UnreadableException(message);
        }
        skipped.add(reason, key);
        return false;
    }

    private void write(String split) throws IOException, InterruptedException {
        if (builder.rows() == 0) {
            builder.reset();
            return;
        }
        UUID id = ChunkNames.newId(System.currentTimeMillis(), RANDOM);
        PackedChunk chunk = builder.finish(
                new ChunkIdentity(info.id(), id, plan.ingest(), split, Instant.ofEpochMilli(plan.startedMs())));
        ChunkWrites.write(store, chunk, (what, attempt) -> patience.run(what, attempt::run));
        chunks.add(chunk.summary());
        chunk.classes()
                .forEach((field, names) ->
                        classes.computeIfAbsent(field, f -> new TreeSet<>()).addAll(names));
        builder.reset();
    }
}

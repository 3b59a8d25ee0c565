package dev.stoker.ingest.pack.read;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.values.Utf8;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of a sample into a row of a chunk. Each file takes one open, one read and one close: the walk has
 * determined its length, and a read that returns exactly this number of bytes confirms it. For one thread at a time.
 */
public final class SampleFields {

    /** The largest payload. */
    private static final long MAX_SAMPLE_BYTES = 1L << 30;
    /** How often a file that changes while it is read is read again. */
    private static final int ATTEMPTS = 3;

    private final PackPlan plan;
    private final SourceReads reads;
    private final Optional<Labels> labels;
    private final List<Field> fields;
    private final int content;
    private final int label;
    private ByteBuffer scratch = ByteBuffer.allocateDirect(64 << 10);
    private ChunkBuilder builder;
    private SkipCounts skipped = new SkipCounts();
    private long contentBytes;

    public SampleFields(PackPlan plan, List<Field> fields, SourceReads reads, Optional<Labels> labels) {
        this.plan = plan;
        this.reads = reads;
        this.labels = labels;
        this.fields = fields;
        content = indexOf(plan.content());
        label = plan.labelled().map(l -> indexOf(l.field())).orElse(-1);
        builder = new ChunkBuilder(fields, 1);
    }

    private int indexOf(String field) {
        for (int i = 0; i < fields.size(); i++) {
            if (fields.get(i).name().equals(field)) {
                return i;
            }
        }
        throw new IllegalArgumentException("The dataset has no field " + field);
    }

    /**
     * Says where the next rows and the counts of files that are left out go.
     *
     * @param to gets the rows
     * @param counts files that are left out
     */
    public void into(ChunkBuilder to, SkipCounts counts) {
        builder = to;
        skipped = counts;
    }

    /** Returns the bytes of the content of the last row. */
    public long contentBytes() {
        return contentBytes;
    }

    /** Announces files whose fields will be set, in order. {@link #end} ends the announcement. */
    public void begin(List<FileEntry> files) {
        List<Sidecar> sidecars = plan.sidecarList();
        List<SourceReads.Wanted> wanted = new ArrayList<>();
        for (FileEntry file : files) {
            String key = file.path();
            wanted.add(new SourceReads.Wanted(key, file.size()));
            for (int i = 0; i < sidecars.size(); i++) {
                if (file.sidecars()[i] >= 0) {
                    String sidecar =
                            DirectoryLister.sidecarOf(key, sidecars.get(i).ending());
                    wanted.add(new SourceReads.Wanted(sidecar, file.sidecars()[i]));
                }
            }
        }
        reads.begin(wanted);
    }

    public void end() {
        reads.end();
    }

    /** Begins a row and sets its fields. There is no row if it returns false or throws. */
    public boolean set(FileEntry file) throws IOException {
        String key = file.path();
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
        if (!fields.get(field).type().canonical().equals("utf8") || Utf8.isValid(value)) {
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

    /** Returns whether a file is left out because of its size. */
    public boolean isTooLarge(FileEntry file) throws IOException {
        if (file.size() > MAX_SAMPLE_BYTES) {
            tooLarge(file.path(), file.size());
            return true;
        }
        return false;
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
}

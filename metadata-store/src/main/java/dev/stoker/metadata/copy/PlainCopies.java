package dev.stoker.metadata.copy;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.index.run.RunObject;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies files that no version needs: runs of the sample index, and what feeds and ingests have left. Writers may add,
 * replace and delete such files at the same time. Used by one thread.
 */
final class PlainCopies {

    private static final Logger LOG = LoggerFactory.getLogger(PlainCopies.class);
    private static final List<String> LEFT =
            List.of(DatasetLayout.FEEDS, DatasetLayout.DEAD_LETTERS, DatasetLayout.SKIP_LISTS);

    /** A file can be replaced by a merged one after it was listed; the next listing has the merged one. */
    private static final int LISTINGS = 5;

    /** Parts of this length are read with one request. */
    private static final int PART_BYTES = 64 << 20;

    private final ObjectStore source;
    private final ObjectStore target;

    PlainCopies(ObjectStore source, ObjectStore target) {
        this.source = source;
        this.target = target;
    }

    /** Copies the runs of versions that the target has, except superseded ones. A damaged run is left out. */
    CopyResult.Files copyIndex(long visible) throws IOException {
        List<IndexRange> runs = runs(source);
        runs.removeIf(run -> run.last() > visible);
        runs.removeAll(IndexRange.superseded(runs));
        List<IndexRange> own = runs(target);
        CopyResult.Files copied = CopyResult.Files.NONE;
        for (IndexRange run : runs) {
            if (own.stream().noneMatch(other -> other.contains(run))) {
                copied = copied.plus(copyRun(run.name()));
            }
        }
        return copied;
    }

    private static List<IndexRange> runs(ObjectStore store) throws IOException {
        List<IndexRange> runs = new ArrayList<>();
        for (ObjectInfo object : store.list(DatasetLayout.INDEX).toList()) {
            IndexRange.ofName(object.name()).ifPresent(runs::add);
        }
        return runs;
    }

    private CopyResult.Files copyRun(String name) throws IOException {
        try {
            long length = source.length(name);
            copy(name, length);
            SampleRun.open(new RunObject(target, name)).verifyAll();
            return new CopyResult.Files(1, length);
        } catch (NoSuchObjectException e) {
            LOG.debug("{} was superseded after it was listed", name);
        } catch (StokerException e) {
            target.delete(name);
            LOG.warn("{} was not copied; rebuild the index with stoker index: {}", name, e.getMessage());
        }
        return CopyResult.Files.NONE;
    }

    /** Copies ledgers and epoch choices of feeds, dead letters and skip lists. */
    CopyResult.Files copyLeftFiles() throws IOException {
        CopyResult.Files copied = CopyResult.Files.NONE;
        for (String folder : LEFT) {
            boolean isComplete = false;
            for (int listing = 0; !isComplete && listing < LISTINGS; listing++) {
                Map<String, Long> own = new HashMap<>();
                for (ObjectInfo object : target.list(folder).toList()) {
                    own.put(object.name(), object.length());
                }
                isComplete = true;
                for (ObjectInfo object : source.list(folder).toList()) {
                    Long length = own.get(object.name());
                    if (length != null && length == object.length()) {
                        continue;
                    }
                    try {
                        if (length != null) {
                            target.delete(object.name());
                        }
                        copy(object.name(), object.length());
                        copied = copied.plus(new CopyResult.Files(1, object.length()));
                    } catch (NoSuchObjectException e) {
                        isComplete = false;
                    }
                }
            }
        }
        return copied;
    }

    private void copy(String name, long length) throws IOException {
        if (length == 0) {
            target.createIfAbsent(name, new byte[0]);
            return;
        }
        try (ChunkTransfer transfer = new ChunkTransfer(target, name)) {
            long at = 0;
            while (at < length) {
                int part = (int) Math.min(PART_BYTES, length - at);
                if (part == length) {
                    source.read(name, 0, part, transfer);
                } else {
                    // A retry within a part must not begin the object again.
                    ByteBuffer buffer = ByteBuffer.allocate(part);
                    source.read(name, at, buffer);
                    transfer.put(at, buffer.flip());
                }
                at += part;
            }
            transfer.commit(length);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}

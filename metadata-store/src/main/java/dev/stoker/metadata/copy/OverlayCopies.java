package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Copies the overlays of versions, each verified by its length and checksum before it is visible at the target. For one
 * thread; reads with several.
 */
final class OverlayCopies {

    private final Dataset source;
    private final ObjectStore target;
    private final CopyPlan plan;
    private final LongAdder copied = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final ConcurrentLinkedQueue<Damaged> damaged = new ConcurrentLinkedQueue<>();

    private record Added(long version, UpdatedChunk chunk) {}

    private record Damaged(long version, Problem problem) {}

    OverlayCopies(Dataset source, ObjectStore target, CopyPlan plan) {
        this.source = source;
        this.target = target;
        this.plan = plan;
    }

    /**
     * Copies the overlays that versions have added and that the target lacks.
     *
     * @param visible the last version to publish
     * @return the last version that can be published: no later one needs an overlay that is damaged at the source
     */
    long run(CopyRule rule, long visible) throws IOException {
        boolean isChecked = rule.has(CopyRule.Extra.CHECKSUMS);
        TreeSet<Long> versions = new TreeSet<>(plan.missing());
        if (isChecked) {
            versions.addAll(plan.present());
        }
        List<Added> added = new ArrayList<>();
        for (long version : versions.headSet(visible, true)) {
            for (UpdatedChunk chunk : source.entry(version).updated()) {
                added.add(new Added(version, chunk));
            }
        }
        ParallelChunks.forEach(
                IntStream.range(0, added.size()).toArray(), rule.threads(), () -> i -> bring(added.get(i), isChecked));
        return damaged.stream().mapToLong(found -> found.version - 1).reduce(visible, Math::min);
    }

    private void bring(Added added, boolean isChecked) throws IOException {
        ChunkOverlay overlay = added.chunk.overlay();
        String name = ChunkNames.overlayPath(overlay.id());
        if (isPresent(overlay, name, isChecked)) {
            return;
        }
        byte[] content;
        try {
            content = source.store().readAll(name, overlay.length());
        } catch (NoSuchObjectException e) {
            if (isNeeded(added)) {
                damage(added, name, "is missing");
            }
            return;
        } catch (CorruptDataException e) {
            damage(added, name, ErrorText.of(e));
            return;
        }
        int crc = Crc32cs.of(ByteBuffer.wrap(content));
        if (content.length != overlay.length() || crc != overlay.crc32c()) {
            damage(added, name, "has the CRC32C " + Crc32cs.hex(crc) + " instead of " + Crc32cs.hex(overlay.crc32c()));
            return;
        }
        try (ChunkTransfer transfer = new ChunkTransfer(target, name)) {
            transfer.put(0, ByteBuffer.wrap(content));
            // No object is replaced in place.
            target.delete(name);
            transfer.commit(content.length);
        }
        copied.increment();
        bytes.add(content.length);
    }

    private boolean isPresent(ChunkOverlay overlay, String name, boolean isChecked) throws IOException {
        try {
            if (target.length(name) != overlay.length()) {
                return false;
            }
            return !isChecked
                    || Crc32cs.of(ByteBuffer.wrap(target.readAll(name, overlay.length()))) == overlay.crc32c();
        } catch (NoSuchObjectException | CorruptDataException e) {
            return false;
        }
    }

    private void damage(Added added, String name, String message) {
        damaged.add(new Damaged(
                added.version, new Problem(source.store().describe(name), added.chunk.ordinal(), -1, "", message)));
    }

    /** Whether a version that was not expired has the overlay. It is in successive versions. */
    private boolean isNeeded(Added added) throws IOException {
        for (long version = added.version; version <= plan.last(); version++) {
            if (plan.isKept(version)) {
                return source.anySnapshot(version)
                        .table()
                        .overlays()
                        .contains(added.chunk.overlay().id());
            }
        }
        return false;
    }

    List<Problem> problems() {
        return damaged.stream().map(Damaged::problem).toList();
    }

    CopyResult.Files copied() {
        return new CopyResult.Files(copied.sum(), bytes.sum());
    }
}

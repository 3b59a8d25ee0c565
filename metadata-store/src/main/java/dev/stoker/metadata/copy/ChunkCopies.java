package dev.stoker.metadata.copy;

import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;

/**
 * Copies chunks, each verified by its length and checksum before it is visible at the target. Continues after a damaged
 * chunk of the source. Several threads work; the results are read when they have ended.
 */
final class ChunkCopies {

    /** A bit may also flip on the way. */
    private static final int ATTEMPTS = 2;

    private final ObjectStore source;
    private final ObjectStore target;
    private final CopyPlan plan;
    private final ChunkTable table;
    private final DatasetCopy.Listener listener;
    private final Map<Integer, Problem> problems = Collections.synchronizedMap(new TreeMap<>());
    private final LongAdder copied = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    ChunkCopies(ObjectStore source, ObjectStore target, CopyPlan plan, DatasetCopy.Listener listener) {
        this.source = source;
        this.target = target;
        this.plan = plan;
        this.table = plan.table();
        this.listener = listener;
    }

    /** Copies the chunks that the target lacks. With checksums, reads the chunks that it has. */
    void run(CopyRule rule) throws IOException {
        boolean isChecked = rule.has(CopyRule.Extra.CHECKSUMS);
        int[] chunks = isChecked ? plan.needed() : plan.absent();
        ParallelChunks.forEach(chunks, rule.threads(), () -> this::bring);
    }

    private void bring(int chunk) throws IOException {
        if (listener.isStopped()) {
            throw new InterruptedIOException("The copy was stopped; run it again to complete it");
        }
        if (plan.isPresent(chunk) && isIntact(chunk)) {
            return;
        }
        String name = ChunkNames.path(table.id(chunk));
        Optional<String> damage = Optional.empty();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            damage = copy(chunk, name);
            if (damage.isEmpty()) {
                copied.increment();
                bytes.add(table.length(chunk));
                return;
            }
        }
        problems.put(chunk, new Problem(source.describe(name), table.ordinal(chunk), -1, "", damage.orElseThrow()));
    }

    private boolean isIntact(int chunk) throws IOException {
        CRC32C crc = new CRC32C();
        try {
            target.read(ChunkNames.path(table.id(chunk)), 0, table.length(chunk), (offset, part) -> {
                if (offset == 0) {
                    crc.reset();
                }
                crc.update(part);
            });
        } catch (NoSuchObjectException | CorruptDataException e) {
            return false;
        }
        return (int) crc.getValue() == table.crc32c(chunk);
    }

    /** Returns the damage of the source's chunk, if it is damaged. */
    private Optional<String> copy(int chunk, String name) throws IOException {
        int length = table.length(chunk);
        try (ChunkTransfer transfer = new ChunkTransfer(target, name)) {
            try {
                source.read(name, 0, length, (offset, part) -> {
                    int size = part.remaining();
                    transfer.put(offset, part);
                    listener.copied(size);
                });
            } catch (NoSuchObjectException e) {
                return Optional.of("is missing");
            } catch (CorruptDataException e) {
                return Optional.of(ErrorText.of(e));
            }
            if (transfer.crc32c() != table.crc32c(chunk)) {
                return Optional.of("has the CRC32C " + Crc32cs.hex(transfer.crc32c()) + " instead of "
                        + Crc32cs.hex(table.crc32c(chunk)));
            }
            if (plan.lengths().containsKey(table.id(chunk))) {
                // Damaged at the target: no object is replaced in place.
                target.delete(name);
            }
            transfer.commit(length);
            return Optional.empty();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Returns the indexes of the chunks that are damaged at the source. */
    List<Integer> damaged() {
        return List.copyOf(problems.keySet());
    }

    List<Problem> problems() {
        return List.copyOf(problems.values());
    }

    CopyResult.Files copied() {
        return new CopyResult.Files(copied.sum(), bytes.sum());
    }
}

package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.Window;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;

/** Contains a window's rows and the checked heads of its chunks. Not thread-safe. */
final class HeadWindow {

    private final AuditedStream stream;
    private final Window rows;
    /** Chunks by index; null if the head is damaged or no row is needed. */
    private final BatchChunk[] chunks;

    private final StokerException[] damage;

    HeadWindow(AuditedStream stream, LaneEpoch lane, int window) throws IOException {
        this.stream = stream;
        this.rows = lane.window(window);
        this.chunks = new BatchChunk[rows.chunks()];
        this.damage = new StokerException[chunks.length];
        StreamChunks all = stream.order().chunks();
        List<Integer> wanted = IntStream.range(0, chunks.length)
                .filter(place -> all.liveRows(rows.chunk(place)) > 0)
                .boxed()
                .toList();
        stream.reads().inOrder(wanted, place -> read(all, rows.chunk(place)), (place, chunk) -> {
            try {
                chunks[place] = chunk.get();
            } catch (StokerException e) {
                damage[place] = e;
            }
        });
    }

    private BatchChunk read(StreamChunks all, int chunk) throws IOException {
        Dataset dataset = stream.dataset();
        String name = ChunkNames.path(all.id(chunk));
        String file = dataset.store().describe(name);
        ByteBuffer bytes = ByteBuffer.allocate(all.headLength(chunk)).order(ByteOrder.LITTLE_ENDIAN);
        dataset.store().read(name, 0, bytes);
        bytes.flip();
        int found = Crc32cs.of(bytes);
        if (found != all.headCrc32c(chunk)) {
            throw CorruptDataException.mismatch(
                    file, "head CRC32C", Crc32cs.hex(all.headCrc32c(chunk)), Crc32cs.hex(found));
        }
        ChunkHead head = ChunkHead.parse(bytes, all.length(chunk), file);
        if (!head.identity().chunk().equals(all.id(chunk)) || head.rows() != all.rows(chunk)) {
            throw CorruptDataException.mismatch(
                    file,
                    "identity",
                    "chunk " + all.id(chunk) + " with " + all.rows(chunk) + " rows",
                    "chunk " + head.identity().chunk() + " with " + head.rows() + " rows");
        }
        ChunkHead current =
                OverlayReader.apply(head, all.overlay(chunk), all.added(), ChunkHeads.overlays(dataset.store()));
        return new BatchChunk(current, null, 0, classIds(current));
    }

    private int[][] classIds(ChunkHead head) throws CorruptDataException {
        List<Field> fields = head.fields();
        int[][] ids = new int[fields.size()][];
        for (int f = 0; f < ids.length; f++) {
            if (fields.get(f).type() == ScalarType.CATEGORICAL) {
                String field = fields.get(f).name();
                List<String> names = head.classes(f);
                ids[f] = new int[names.size()];
                for (int i = 0; i < ids[f].length; i++) {
                    String name = names.get(i);
                    ids[f][i] = stream.snapshot()
                            .classes()
                            .id(field, name)
                            .orElseThrow(() -> CorruptDataException.mismatch(
                                    head.file(), "class of field " + field, "one of the version's", name));
                }
            }
        }
        return ids;
    }

    int chunks() {
        return chunks.length;
    }

    int place(int i) {
        return rows.placeAt(i);
    }

    int row(int i) {
        return rows.rowAt(i);
    }

    /** Returns the chunk at an index; null if its head is damaged. */
    BatchChunk chunk(int place) {
        return chunks[place];
    }

    /** Returns the reason for the absence of a chunk at an index. */
    StokerException damage(int place) {
        return damage[place];
    }

    /** Returns the stream's index of the chunk at an index of the window. */
    int index(int place) {
        return rows.chunk(place);
    }
}

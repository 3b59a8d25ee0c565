package dev.stoker.metadata.rebuild;

import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOutline;
import dev.stoker.schemas.chunk.OutlineReader;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads the outlines of listed chunks: a piece is some of them. */
final class ChunkSurvey implements PieceWork<ChunkSurvey.Found> {

    private static final long serialVersionUID = 1;

    /** The most chunks of a piece, and the least number of pieces if there are enough chunks. */
    private static final int MOST_CHUNKS = 64;

    private static final int LEAST_PIECES = 256;

    private final byte[] description;
    /** Of each chunk: the two halves of its id, and its length. */
    private final long[] listed;
    /** Keeps the heads, if the work is done in this process. */
    private final transient @Nullable HeadSpool spool;

    /**
     * What was found in a piece.
     *
     * @param chunks intact chunks of the dataset
     * @param damaged a message about each other file
     */
    record Found(ArrayList<FoundChunk> chunks, ArrayList<String> damaged) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /**
     * @param info of the dataset
     * @param objects files with names of chunks
     * @param spool keeps the heads
     */
    ChunkSurvey(DatasetInfo info, List<ObjectInfo> objects, HeadSpool spool) {
        this.description = info.encode();
        this.spool = spool;
        this.listed = new long[3 * objects.size()];
        for (int i = 0; i < objects.size(); i++) {
            UUID id = ChunkNames.idOf(objects.get(i).name()).orElseThrow();
            listed[3 * i] = id.getMostSignificantBits();
            listed[3 * i + 1] = id.getLeastSignificantBits();
            listed[3 * i + 2] = objects.get(i).length();
        }
    }

    private int size() {
        return listed.length / 3;
    }

    private int chunksOfPiece() {
        return Math.max(1, Math.min(MOST_CHUNKS, size() / LEAST_PIECES));
    }

    int pieces() {
        return (size() + chunksOfPiece() - 1) / chunksOfPiece();
    }

    @Override
    public Supplier<PieceWorker<Found>> open(ObjectStore store) throws IOException {
        DatasetInfo info = DatasetInfo.decode(description, "the description of the dataset");
        OutlineReader outlines = new OutlineReader();
        return () -> piece -> {
            Found found = new Found(new ArrayList<>(), new ArrayList<>());
            int from = piece * chunksOfPiece();
            for (int i = from; i < Math.min(size(), from + chunksOfPiece()); i++) {
                read(
                        new ListedChunk(store, new UUID(listed[3 * i], listed[3 * i + 1]), listed[3 * i + 2]),
                        outlines,
                        info,
                        found);
            }
            return found;
        };
    }

    private void read(ListedChunk chunk, OutlineReader outlines, DatasetInfo info, Found found) throws IOException {
        try {
            ChunkOutline outline = outlines.read(chunk);
            ChunkIdentity identity = outline.head().identity();
            Optional<AddedFields> more =
                    AddedFields.beyond(info.fields(), outline.head().fields());
            if (!identity.chunk().equals(chunk.id) || !identity.dataset().equals(info.id()) || more.isEmpty()) {
                found.damaged.add(chunk.name() + " belongs to another dataset");
                return;
            }
            if (spool != null) {
                spool.keep(outline);
            }
            found.chunks.add(FoundChunk.of(outline, more.get()));
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            found.damaged.add(CorruptDataException.withoutFileAdvice(String.valueOf(e.getMessage())));
        }
    }

    /** A listed chunk, whose length needs no request. */
    private record ListedChunk(ObjectStore store, UUID id, long length) implements RangeReader {
        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            store.read(ChunkNames.path(id), offset, target);
        }

        @Override
        public String name() {
            return store.describe(ChunkNames.path(id));
        }
    }
}

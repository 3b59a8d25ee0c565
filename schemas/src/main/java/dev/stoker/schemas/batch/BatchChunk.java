package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Refers to a chunk that provides rows of a batch. {@link BatchBuilder#chunk} creates it and checks that the chunk
 * belongs to the dataset.
 *
 * @param head its checked head
 * @param bytes the file, from index {@code bytesAt} of the file on; only sliced, never read. Null if only a message's
 *     checksum is needed; the parts of the message then lack the payload
 * @param bytesAt position in the file of index 0 of {@code bytes}; 0 for a mapped file
 * @param classIds per field of the dataset: the map from chunk-local id to version id for a categorical field,
 *     otherwise null; empty if there are no categorical fields
 */
public record BatchChunk(ChunkHead head, @Nullable ByteBuffer bytes, int bytesAt, int[][] classIds) {
    public BatchChunk {
        for (int f = 0; f < head.fields().size(); f++) {
            if (head.fields().get(f).type() == ScalarType.CATEGORICAL) {
                int given = f < classIds.length && classIds[f] != null ? classIds[f].length : 0;
                int needed = head.classes(f).size();
                if (given < needed) {
                    throw new IllegalArgumentException(head.file() + ": field '"
                            + head.fields().get(f).name() + "' has " + needed + " classes, ids were given for "
                            + given);
                }
            }
        }
    }

    /** Returns the index of each of the chunk's names in a list of all names. */
    public static int[] idsOf(List<String> chunkClasses, Map<String, Integer> versionIds) {
        int[] ids = new int[chunkClasses.size()];
        for (int i = 0; i < ids.length; i++) {
            Integer id = versionIds.get(chunkClasses.get(i));
            if (id == null) {
                throw new IllegalArgumentException("the version has no class '" + chunkClasses.get(i) + "'");
            }
            ids[i] = id;
        }
        return ids;
    }
}

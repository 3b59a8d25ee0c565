package dev.stoker.metadata.rebuild;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkOutline;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.AddedChunk;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * A chunk that was found.
 *
 * @param summary the values for the log
 * @param createdMs when its ingest began
 * @param ingest id of its ingest
 * @param classes the class names that it uses, by categorical field
 * @param fields the fields that it has beside those of dataset.json
 */
record FoundChunk(
        ChunkSummary summary,
        long createdMs,
        String ingest,
        TreeMap<String, ArrayList<String>> classes,
        AddedFields fields)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Puts older chunks first. Ids are UUIDv7s, which begin with the time. */
    static final Comparator<FoundChunk> OLDEST_FIRST = Comparator.comparingLong(FoundChunk::createdMs)
            .thenComparing(chunk -> chunk.summary().id().toString());

    static FoundChunk of(ChunkOutline outline, AddedFields more) {
        ChunkHead head = outline.head();
        List<Field> fields = head.fields();
        TreeMap<String, ArrayList<String>> classes = new TreeMap<>();
        for (int f = 0; f < fields.size(); f++) {
            if (!head.classes(f).isEmpty()) {
                // The text in files of equal names is kept once.
                ArrayList<String> names = new ArrayList<>();
                head.classes(f).forEach(name -> names.add(name.intern()));
                classes.put(fields.get(f).name(), names);
            }
        }
        return new FoundChunk(
                outline.summary(),
                head.identity().created().toEpochMilli(),
                head.identity().ingest(),
                classes,
                more);
    }

    AddedChunk added(long ordinal) {
        return new AddedChunk(
                ordinal,
                summary.id(),
                summary.split(),
                summary.rows(),
                summary.length(),
                summary.crc32c(),
                summary.headLength(),
                summary.headCrc32c(),
                summary.largestRow());
    }
}

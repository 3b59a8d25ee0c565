package dev.stoker.cli.browse;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Describes samples as JSON: short for the grid, and in full. Thread-safe. */
public final class SampleViews {

    private static final Logger LOG = LoggerFactory.getLogger(SampleViews.class);

    /** Small fields of a card; further ones are in the full description. */
    private static final int CARD_FIELDS = 6;

    /** Bytes that are read for one page of cards. The cards beyond ask for their content one by one. */
    private static final long PAGE_BYTES = 32L << 20;

    private static final int CHUNKS_TOGETHER = 8;

    private final Values values;
    private final ContentJson shortContents;
    private final ContentJson longContents;
    private final ValuePreview shortValues = new ValuePreview(80, 6);
    private final ValuePreview longValues = new ValuePreview(4000, 200);

    public SampleViews(Values values) {
        this.values = values;
        this.shortContents = new ContentJson(values, new ValuePreview(400, 12));
        this.longContents = new ContentJson(values, new ValuePreview(64_000, 400));
    }

    /** Returns cards of samples, in their order. */
    ArrayNode cards(BrowsedVersion version, List<RowAddress> places, int show) throws IOException {
        AtomicLong left = new AtomicLong(PAGE_BYTES);
        Map<RowAddress, ObjectNode> cards = new ConcurrentHashMap<>();
        int[] chunks = places.stream().mapToInt(RowAddress::chunk).distinct().toArray();
        ParallelChunks.forEach(chunks, CHUNKS_TOGETHER, () -> chunk -> {
            List<RowAddress> ofChunk =
                    places.stream().filter(place -> place.chunk() == chunk).toList();
            addCards(version, ofChunk, show, left, cards);
        });
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        places.forEach(place -> array.add(cards.get(place)));
        return array;
    }

    private void addCards(
            BrowsedVersion version,
            List<RowAddress> places,
            int show,
            AtomicLong left,
            Map<RowAddress, ObjectNode> cards) {
        ChunkTable table = version.table();
        try {
            ChunkHead head = version.samples().head(places.get(0).chunk());
            prefetch(version, head, places, show, left);
            for (RowAddress place : places) {
                ObjectNode card = place(table, place).put("key", head.key(place.row()));
                card.set("fields", smallFields(head, place.row(), shortValues, CARD_FIELDS));
                if (show >= 0) {
                    card.set("content", shortContents.of(version, head, place, show, ContentJson.Effort.KNOWN));
                }
                cards.put(place, card);
            }
        } catch (IOException e) {
            // The other chunks are shown.
            for (RowAddress place : places) {
                cards.put(place, place(table, place).put("problem", BrowseProblems.text(e)));
            }
        }
    }

    /** Reads the contents of neighbours together. */
    private void prefetch(BrowsedVersion version, ChunkHead head, List<RowAddress> places, int show, AtomicLong left) {
        if (show < 0 || !head.fields().get(show).payload()) {
            return;
        }
        int[] rows = places.stream()
                .mapToInt(RowAddress::row)
                .filter(row -> {
                    int length = Values.length(head, show, row);
                    return !head.column(show).isNull(row)
                            && length <= Values.LARGE_BYTES
                            && left.addAndGet(-length) >= 0;
                })
                .toArray();
        try {
            values.readTogether(version, places.get(0).chunk(), rows, show);
        } catch (IOException e) {
            // Then each card asks for its own content, and the damaged one says so.
            LOG.debug("Contents were not read together", e);
        }
    }

    private static ObjectNode place(ChunkTable table, RowAddress place) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("chunk", table.ordinal(place.chunk()))
                .put("row", place.row())
                .put("split", table.split(place.chunk()));
    }

    private static ObjectNode smallFields(ChunkHead head, int row, ValuePreview preview, int most) {
        ObjectNode fields = JsonNodeFactory.instance.objectNode();
        for (int f = 0; f < head.fields().size() && fields.size() < most; f++) {
            if (!head.fields().get(f).payload()) {
                fields.set(head.fields().get(f).name(), preview.of(head, f, row));
            }
        }
        return fields;
    }

    /** Returns all that is known about a sample. */
    ObjectNode full(BrowsedVersion version, RowAddress place) throws IOException {
        ChunkTable table = version.table();
        ChunkHead head = version.samples().head(place.chunk());
        SampleStat stat = version.samples().stat(place.chunk(), place.row());
        ObjectNode node = place(table, place)
                .put("version", version.snapshot().version())
                .put("key", stat.key())
                .put("bytes", stat.length())
                .put("crc32c", Crc32cs.hex(stat.crc32c()))
                .put("chunk_id", table.id(place.chunk()).toString())
                .put("chunk_rows", table.rows(place.chunk()))
                .put("chunk_bytes", table.length(place.chunk()))
                .put("added_in", table.addedIn(place.chunk()))
                .put("ingest", head.identity().ingest())
                .put("updated", table.overlay(place.chunk()) != null);
        ArrayNode fields = node.putArray("fields");
        for (int f = 0; f < head.fields().size(); f++) {
            Field field = head.fields().get(f);
            ObjectNode one = fields.addObject()
                    .put("number", f)
                    .put("name", field.name())
                    .put("type", field.type().canonical())
                    .put("payload", field.payload())
                    .put("file", ContentField.hasBytes(field) && !head.column(f).isNull(place.row()));
            if (field.payload()) {
                one.put("crc32c", Crc32cs.hex(head.payloadCrc32c(f, place.row())));
                one.set("content", longContents.of(version, head, place, f, ContentJson.Effort.READ));
            } else {
                one.set("value", longValues.of(head, f, place.row()));
            }
        }
        return node;
    }

    /** Returns the content of a field for a card that did not get it with its page, or that was too large. */
    public ObjectNode content(BrowsedVersion version, RowAddress place, int field, ContentJson.Effort effort)
            throws IOException {
        return shortContents.of(version, version.samples().head(place.chunk()), place, field, effort);
    }
}

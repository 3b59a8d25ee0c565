package dev.stoker.schemas.flips;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.Format;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.ColumnReader;
import dev.stoker.schemas.chunk.GoldenChunks;
import dev.stoker.schemas.chunk.OutlineReader;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Chunks and overlays, through each of their readers. */
final class ChunkFormats {

    private ChunkFormats() {}

    static List<Format> all() throws IOException {
        List<Format> formats = new ArrayList<>();
        of(
                formats,
                "chunk-1a.arrow",
                Golden.read("chunk-1a.arrow"),
                GoldenChunks.build("chunk-1a").summary());
        PackedChunk all = ChunkFixtures.random(ChunkFixtures.ALL_TYPES, 40, 0, new Random(3))
                .finish(ChunkFixtures.identity(0));
        of(formats, "chunk of all types", ChunkFixtures.bytes(all).array(), all.summary());
        PackedChunk images = ChunkFixtures.random(ChunkFixtures.IMAGES, 300, 0, new Random(4))
                .finish(ChunkFixtures.identity(1));
        of(formats, "chunk of 300 images", ChunkFixtures.bytes(images).array(), images.summary());
        overlays(formats);
        return formats;
    }

    private static void of(List<Format> formats, String name, byte[] file, ChunkSummary summary) {
        formats.add(new Format(name + ", alone", file, bytes -> ChunkReader.verify(reader(bytes))));
        formats.add(new Format(
                name + ", head and payload",
                file,
                "padding, and the bytes after the body, which a batch does not need",
                bytes -> samples(ChunkReader.readHead(reader(bytes), summary), bytes)));
        formats.add(new Format(
                name + ", column by column",
                file,
                "payload, other padding, and parts of the footer that its reader does not use",
                bytes -> columns(ColumnReader.open(reader(bytes), summary))));
        formats.add(new Format(
                name + ", outline",
                file,
                "payload, and its padding",
                bytes -> new OutlineReader().read(reader(bytes)).summary()));
    }

    private static void overlays(List<Format> formats) throws IOException {
        byte[] chunk = Golden.read("chunk-1a.arrow");
        byte[] overlay = Golden.read("overlay-1.arrow");
        ChunkSummary summary = GoldenChunks.build("chunk-1a").summary();
        ChunkSummary own = GoldenChunks.build("overlay-1").summary();
        ChunkSummary updated = summary.with(new ChunkOverlay(own.id(), own.length(), own.crc32c()));
        formats.add(new Format(
                "overlay-1.arrow",
                overlay,
                bytes -> samples(OverlayReader.readHead(reader(chunk), updated, id -> reader(bytes)), chunk)));
    }

    private static RangeReader reader(byte[] file) {
        return new BufferRangeReader("file", ByteBuffer.wrap(file));
    }

    /** All that a batch takes from a chunk. */
    private static List<Object> samples(ChunkHead head, byte[] file) throws IOException {
        List<Object> content = new ArrayList<>();
        content.add(head.identity().toString());
        for (int row = 0; row < head.rows(); row++) {
            ChunkReader.verifySample(head, reader(file), row);
            content.add(head.key(row));
            for (int field = 0; field < head.fields().size(); field++) {
                if (head.fields().get(field).payload()) {
                    content.add(Crc32cs.of(file, head.payloadPosition(field, row), head.payloadLength(field, row)));
                    content.add(head.payloadLength(field, row));
                } else {
                    addTo(content, head.column(field), row);
                    addClass(content, head.column(field), row, head.classes(field));
                }
            }
        }
        return content;
    }

    private static List<Object> columns(ColumnReader reader) throws IOException {
        List<Object> content = new ArrayList<>();
        ArrowColumn keys = reader.keys();
        for (int row = 0; row < reader.rows(); row++) {
            content.add(keys.stringAt(row));
        }
        for (int field = 0; field < reader.fields().size(); field++) {
            boolean isPayload = reader.fields().get(field).payload();
            ArrowColumn column = isPayload ? reader.payloadCrcs(field) : reader.column(field);
            List<String> classes = !isPayload && isCategorical(column) ? reader.classes(field) : List.of();
            for (int row = 0; row < reader.rows(); row++) {
                addTo(content, column, row);
                addClass(content, column, row, classes);
            }
        }
        return content;
    }

    private static boolean isCategorical(ArrowColumn column) {
        return column.field().type() == ScalarType.CATEGORICAL;
    }

    private static void addClass(List<Object> content, ArrowColumn column, int row, List<String> classes) {
        if (isCategorical(column) && !column.isNull(row)) {
            content.add(classes.get(column.intAt(row)));
        }
    }

    private static void addTo(List<Object> content, ArrowColumn column, int row) {
        content.add(column.isNull(row));
        if (column.isNull(row)) {
            return;
        }
        if (column.field().type() == ScalarType.BOOL) {
            content.add(column.booleanAt(row));
        } else if (column.field().type().items() != null) {
            for (int item = 0; item < column.itemCount(row); item++) {
                content.add(column.isNullItem(row, item));
                content.add(column.itemAt(row, item));
            }
        } else {
            content.add(column.bytesAt(row));
        }
    }
}

package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.FieldFilter;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ColumnReader;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reads and verifies the selected columns of chunks. Reads a short head whole, and of a long head only the columns that
 * the scan names. Reads payload only for rows that pass the filters. Stateless.
 */
final class ChunkLoader {

    /** A head that is read with one request, in about the time of the four requests of a column reader. */
    private static final int SHORT_HEAD = 256 << 10;

    private final ObjectStore store;
    private final DatasetScan scan;
    private final List<String> names;
    private final int shortHead;

    ChunkLoader(ObjectStore store, DatasetScan scan) {
        this(store, scan, SHORT_HEAD);
    }

    /** @param shortHead bytes up to which a head is read whole */
    ChunkLoader(ObjectStore store, DatasetScan scan, int shortHead) {
        this.store = store;
        this.shortHead = shortHead;
        this.scan = scan;
        this.names = scan.columnsToRead();
    }

    /**
     * The wanted part of a chunk.
     *
     * @param cursor gives the values of the wanted rows
     * @param rows the wanted rows, ascending
     */
    record Loaded(ChunkRow cursor, int[] rows) {}

    /**
     * Loads the wanted rows.
     *
     * @param begin the first row
     * @param limit maximum number of rows
     */
    Loaded load(long version, SourceChunk chunk, int begin, long limit) throws IOException {
        LoadedColumn[] columns = new LoadedColumn[names.size()];
        ChunkRow cursor = new ChunkRow(version, chunk, columns);
        if (names.isEmpty()) {
            // Nothing of the chunk is needed to count its rows.
            return new Loaded(cursor, liveRows(chunk, begin).limit(limit).toArray());
        }
        RangeReader file =
                new ObjectRangeReader(store, ChunkNames.path(chunk.summary().id()));
        VerifiedColumns source = open(file, chunk);
        List<String> fields = source.fields().stream().map(Field::name).toList();
        for (int c = 0; c < columns.length; c++) {
            int field = fields.indexOf(names.get(c));
            if (names.get(c).startsWith(DatasetScan.CRC)) {
                int payload = fields.indexOf(names.get(c).substring(DatasetScan.CRC.length()));
                columns[c] = new LoadedColumn(ScalarType.UINT32, source.crcs(payload), List.of(), null);
            } else if (field < 0) {
                columns[c] = new LoadedColumn(ScalarType.UTF8, source.keys(), List.of(), null);
            } else if (!source.fields().get(field).payload()) {
                columns[c] = small(source, field);
            }
        }
        int[] rows = liveRows(chunk, begin)
                .filter(row -> matches(cursor.at(row)))
                .limit(limit)
                .toArray();
        for (int c = 0; c < columns.length; c++) {
            int field = fields.indexOf(names.get(c));
            if (field >= 0 && source.fields().get(field).payload() && rows.length > 0) {
                VerifiedColumns.Places places = source.payload(field);
                columns[c] = new LoadedColumn(
                        source.fields().get(field).type(),
                        places.values(),
                        List.of(),
                        PayloadRead.read(file, places, rows, names.get(c)));
            }
        }
        return new Loaded(cursor, rows);
    }

    private VerifiedColumns open(RangeReader file, SourceChunk chunk) throws IOException {
        if (chunk.summary().headLength() <= shortHead) {
            return new VerifiedColumns.OfHead(
                    OverlayReader.readHead(file, chunk.summary(), ChunkHeads.overlays(store)));
        }
        ColumnReader columns = ColumnReader.open(file, chunk.summary().withoutOverlay());
        VerifiedColumns own = new VerifiedColumns.OneByOne(columns);
        ChunkOverlay overlay = chunk.summary().overlay();
        AddedFields added = chunk.summary().added();
        if (overlay == null && added.isEmpty()) {
            return own;
        }
        ChunkHead values = overlay == null
                ? null
                : OverlayReader.read(ChunkHeads.overlays(store).open(overlay.id()), overlay, columns, added);
        return new VerifiedColumns.OfVersion(own, values, added.in(columns.fields()), columns.rows());
    }

    private static LoadedColumn small(VerifiedColumns source, int field) throws IOException {
        FieldType type = source.fields().get(field).type();
        List<String> classes = type == ScalarType.CATEGORICAL ? source.classes(field) : List.of();
        return new LoadedColumn(type, source.small(field), classes, null);
    }

    private static IntStream liveRows(SourceChunk chunk, int begin) {
        return IntStream.range(begin, chunk.summary().rows())
                .filter(row -> Arrays.binarySearch(chunk.removedRows(), row) < 0);
    }

    private boolean matches(ChunkRow row) {
        for (FieldFilter filter : scan.filters()) {
            if (!filter.matches(row, names.indexOf(filter.column()))) {
                return false;
            }
        }
        return true;
    }
}

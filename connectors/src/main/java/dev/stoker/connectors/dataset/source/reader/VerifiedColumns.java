package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ColumnReader;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The verified columns of a chunk, however they are read. */
interface VerifiedColumns {

    List<Field> fields();

    ArrowColumn keys() throws IOException;

    /** Returns the column of a small field. */
    ArrowColumn small(int field) throws IOException;

    /** Returns the places of the values of a payload field. */
    Places payload(int field) throws IOException;

    /** Returns the checksums of the values of a payload field. */
    ArrowColumn crcs(int field) throws IOException;

    List<String> classes(int field) throws IOException;

    /** The places of the values of a payload field in the file. */
    interface Places {
        ArrowColumn values();

        long position(int row);

        int crc32c(int row);
    }

    /** The columns of a head that was read whole. */
    record OfHead(ChunkHead head) implements VerifiedColumns {
        @Override
        public List<Field> fields() {
            return head.fields();
        }

        @Override
        public ArrowColumn keys() {
            return head.keys();
        }

        @Override
        public ArrowColumn small(int field) {
            return head.column(field);
        }

        @Override
        public Places payload(int field) {
            return new Places() {
                @Override
                public ArrowColumn values() {
                    return head.column(field);
                }

                @Override
                public long position(int row) {
                    return head.payloadPosition(field, row);
                }

                @Override
                public int crc32c(int row) {
                    return head.payloadCrc32c(field, row);
                }
            };
        }

        @Override
        public ArrowColumn crcs(int field) {
            return head.payloadCrcs(field);
        }

        @Override
        public List<String> classes(int field) {
            return head.classes(field);
        }
    }

    /**
     * Columns as a version has them.
     *
     * @param chunk the chunk's own columns
     * @param overlay the columns that the overlay has instead; null for a chunk without an overlay
     * @param fields all fields of the version. One that neither has is null in all rows
     * @param rows number of rows
     */
    record OfVersion(VerifiedColumns chunk, @Nullable ChunkHead overlay, List<Field> fields, int rows)
            implements VerifiedColumns {
        @Override
        public ArrowColumn keys() throws IOException {
            return chunk.keys();
        }

        @Override
        public ArrowColumn small(int field) throws IOException {
            int other = inOverlay(field);
            if (overlay != null && other >= 0) {
                return overlay.column(other);
            }
            int own = inChunk(field);
            return own < 0 ? ArrowColumn.ofNulls(fields.get(field), rows) : chunk.small(own);
        }

        @Override
        public Places payload(int field) throws IOException {
            return chunk.payload(inChunk(field));
        }

        @Override
        public ArrowColumn crcs(int field) throws IOException {
            return chunk.crcs(inChunk(field));
        }

        @Override
        public List<String> classes(int field) throws IOException {
            int other = inOverlay(field);
            if (overlay != null && other >= 0) {
                return overlay.classes(other);
            }
            int own = inChunk(field);
            return own < 0 ? List.of() : chunk.classes(own);
        }

        private int inChunk(int field) {
            return chunk.fields().indexOf(fields.get(field));
        }

        private int inOverlay(int field) {
            return overlay == null ? -1 : overlay.fields().indexOf(fields.get(field));
        }
    }

    /** Columns that are read one by one. */
    record OneByOne(ColumnReader reader) implements VerifiedColumns {
        @Override
        public List<Field> fields() {
            return reader.fields();
        }

        @Override
        public ArrowColumn keys() throws IOException {
            return reader.keys();
        }

        @Override
        public ArrowColumn small(int field) throws IOException {
            return reader.column(field);
        }

        @Override
        public Places payload(int field) throws IOException {
            ColumnReader.Payload payload = reader.payload(field);
            return new Places() {
                @Override
                public ArrowColumn values() {
                    return payload.values();
                }

                @Override
                public long position(int row) {
                    return payload.position(row);
                }

                @Override
                public int crc32c(int row) {
                    return payload.crcs().intAt(row);
                }
            };
        }

        @Override
        public ArrowColumn crcs(int field) throws IOException {
            return reader.payloadCrcs(field);
        }

        @Override
        public List<String> classes(int field) throws IOException {
            return reader.classes(field);
        }
    }
}

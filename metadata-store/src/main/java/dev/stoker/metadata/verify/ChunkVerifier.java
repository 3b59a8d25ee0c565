package dev.stoker.metadata.verify;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** Verifies chunks one after the other, each in one sequential pass after its head. Not thread-safe. */
final class ChunkVerifier {

    private static final int BUFFER_BYTES = 1 << 20;

    private final Dataset dataset;
    private final ObjectStore store;
    private final ChunkTable table;
    private final Consumer<Problem> problems;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);

    ChunkVerifier(Dataset dataset, ChunkTable table, Consumer<Problem> problems) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.table = table;
        this.problems = problems;
    }

    /** Returns the number of bytes read. Reports errors as problems. */
    long verify(int index) {
        String name = ChunkNames.path(table.id(index));
        Reporter reporter = new Reporter(store.describe(name), table.ordinal(index));
        try {
            ChunkHead head = ChunkReader.readHead(
                    new ObjectRangeReader(store, name), table.summary(index).withoutOverlay());
            if (!head.identity().dataset().equals(dataset.info().id())) {
                reporter.chunk(
                        "It says that it belongs to dataset " + head.identity().dataset());
            }
            if (!table.added().fit(dataset.info().fields(), head.fields())) {
                reporter.chunk("Its fields differ from the fields of the dataset: " + head.fields());
            }
            return pass(index, name, head, reporter) + verifyOverlay(index, head);
        } catch (NoSuchObjectException e) {
            reporter.chunk("The file is missing");
        } catch (IOException e) {
            reporter.chunk(ErrorText.of(e));
        }
        return 0;
    }

    /** Verifies the overlay of a chunk: every byte, and that its rows are those of the chunk. */
    private long verifyOverlay(int index, ChunkHead head) {
        ChunkOverlay overlay = table.overlay(index);
        if (overlay == null) {
            return 0;
        }
        String name = ChunkNames.overlayPath(overlay.id());
        Reporter reporter = new Reporter(store.describe(name), table.ordinal(index));
        try {
            ChunkHead values = OverlayReader.read(new ObjectRangeReader(store, name), overlay, head.identity());
            OverlayReader.apply(head, overlay, table.added(), id -> new ObjectRangeReader(store, name));
            for (int row = 0; row < head.rows(); row++) {
                if (!values.key(row).equals(head.key(row))) {
                    reporter.report(
                            row,
                            head.key(row),
                            "The overlay has the key '" + values.key(row) + "' in the row of sample '" + head.key(row)
                                    + "'");
                    break;
                }
            }
            return overlay.length();
        } catch (NoSuchObjectException e) {
            reporter.chunk("The overlay is missing");
        } catch (IOException e) {
            reporter.chunk(ErrorText.of(e));
        }
        return 0;
    }

    private long pass(int index, String name, ChunkHead head, Reporter reporter) throws IOException {
        CRC32C file = new CRC32C();
        PayloadCheck samples = new PayloadCheck(head, reporter);
        long length = table.length(index);
        for (long offset = 0; offset < length; offset += buffer.limit()) {
            buffer.clear().limit((int) Math.min(BUFFER_BYTES, length - offset));
            store.read(name, offset, buffer);
            file.update(buffer.array(), 0, buffer.limit());
            samples.accept(offset, buffer);
        }
        if ((int) file.getValue() != table.crc32c(index) && !reporter.reported) {
            reporter.chunk("CRC32C of the file: expected " + Crc32cs.hex(table.crc32c(index)) + ", found "
                    + Crc32cs.hex((int) file.getValue()) + "; no sample is damaged, but padding or footer");
        }
        return length;
    }

    /** Names the chunk in all of its problems. */
    private final class Reporter {
        private final String file;
        private final long ordinal;
        private boolean reported;

        Reporter(String file, long ordinal) {
            this.file = file;
            this.ordinal = ordinal;
        }

        void chunk(String message) {
            report(-1, "", message);
        }

        void report(int row, String key, String message) {
            reported = true;
            problems.accept(new Problem(file, ordinal, row, key, message));
        }
    }

    /** Checks the samples' payload during one pass over the file. */
    private static final class PayloadCheck {
        private final ChunkHead head;
        private final List<Field> fields;
        private final Reporter reporter;
        private final CRC32C crc = new CRC32C();
        private int field;
        private int row;
        private long begin;
        private long end;

        PayloadCheck(ChunkHead head, Reporter reporter) {
            this.head = head;
            this.fields = head.fields();
            this.reporter = reporter;
            this.field = -1;
            nextField();
        }

        private void nextField() {
            do {
                field++;
            } while (field < fields.size() && !fields.get(field).payload());
            row = 0;
            place();
        }

        private void place() {
            if (field < fields.size()) {
                begin = head.payloadPosition(field, row);
                end = begin + head.payloadLength(field, row);
                crc.reset();
            }
        }

        @SuppressWarnings("ByteBufferBackingArray") // The reader fills whole arrays.
        void accept(long offset, ByteBuffer bytes) {
            long limit = offset + bytes.limit();
            while (field < fields.size() && begin < limit) {
                long from = Math.max(begin, offset);
                long to = Math.min(end, limit);
                crc.update(bytes.array(), (int) (from - offset), (int) (to - from));
                if (end > limit) {
                    return;
                }
                finishSample();
            }
        }

        private void finishSample() {
            int expected = head.payloadCrc32c(field, row);
            int found = (int) crc.getValue();
            if (found != expected) {
                reporter.report(
                        row,
                        head.key(row),
                        "CRC32C of " + fields.get(field).name() + " of sample '" + head.key(row) + "': expected "
                                + Crc32cs.hex(expected) + ", found " + Crc32cs.hex(found));
            }
            if (++row < head.rows()) {
                place();
            } else {
                nextField();
            }
        }
    }
}

package dev.stoker.formats.avro;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * An open Avro file. Its parts are ranges of bytes: a block belongs to the part in which the marker before it begins.
 * For one thread at a time.
 */
final class AvroRowFile implements RowFile {
    /** A multiple of common block sizes, and large enough for an object store. */
    static final long PART_BYTES = 32L << 20;

    /** Bits of a position for the number of the record in its block. */
    private static final int RECORD_BITS = 24;

    private final RangeReader file;
    private final ReadLimits limits;
    private final AvroContainer container;
    private final AvroColumns columns;
    private final List<RowPart> parts = new ArrayList<>();

    AvroRowFile(RangeReader file, ReadLimits limits, long partBytes) throws IOException {
        this.file = file;
        this.limits = limits;
        container = new AvroContainer(file, limits);
        columns = new AvroColumns(
                file.name(),
                parse(container.schema()),
                AvroColumns.OptionalItems.REFUSED,
                limits.depth(),
                limits.valueBytes());
        for (long from = container.firstSync(); from < container.length(); from += partBytes) {
            long bytes = Math.min(partBytes, container.length() - from);
            parts.add(new RowPart(parts.size(), from, bytes, -1, 0));
        }
    }

    private Schema parse(String json) throws IOException {
        int depth = 0;
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            // A level of a record has an object, its fields and a field.
            if (depth > 4 * limits.depth()) {
                throw new UnsupportedFileException(file.name() + " has a schema that is nested deeper than "
                        + limits.depth() + " levels; flatten it before");
            }
        }
        try {
            return new Schema.Parser(NameValidator.NO_VALIDATION)
                    .setValidateDefaults(false)
                    .parse(json);
        } catch (RuntimeException e) {
            throw container.damaged("its schema is corrupt" + DamagedFileException.reason(e), e);
        }
    }

    @Override
    public RowSchema schema() {
        return columns.rows();
    }

    @Override
    public List<RowPart> parts() {
        return parts;
    }

    @Override
    public RowReader read(RowPart part, int[] selected) throws IOException {
        // Readers of other parts move their own windows.
        return new Reader(new AvroContainer(file, limits), part, columns.decoder(selected));
    }

    @Override
    public void close() {}

    /** Reads the records of the blocks of a part. */
    private static final class Reader implements RowReader {
        private final AvroContainer blocks;
        private final AvroColumns.Decoder decoder;
        private final long end;
        private long next;
        private AvroContainer.@Nullable Block block;
        private long record;
        private long position;
        private boolean damaged;

        Reader(AvroContainer blocks, RowPart part, AvroColumns.Decoder decoder) throws IOException {
            this.blocks = blocks;
            this.decoder = decoder;
            end = part.offset() + part.bytes();
            long sync = blocks.findSync(part.offset(), end);
            next = sync < 0 ? blocks.length() : sync + AvroContainer.SYNC;
        }

        @Override
        public boolean next() throws IOException {
            damaged = false;
            while (block == null || record + 1 >= block.count()) {
                endBlock();
                // The marker before the block begins in the next part.
                if (next - AvroContainer.SYNC >= end) {
                    return false;
                }
                block = blocks.block(next);
                record = -1;
                if (block == null) {
                    next = Long.MAX_VALUE;
                    return false;
                }
                next = block.end();
            }
            record++;
            position = (block.offset() << RECORD_BITS) + record;
            if (record >> RECORD_BITS != 0) {
                throw blocks.damaged("the block at byte " + block.offset() + " has more than 16 million records", null);
            }
            try {
                decoder.root().read(block.records());
            } catch (IOException e) {
                damaged = true;
                throw blocks.damaged(
                        "record " + record + " of the block at byte " + block.offset() + " is corrupt: "
                                + e.getMessage(),
                        e);
            }
            return true;
        }

        private void endBlock() throws IOException {
            if (block != null && block.records().remaining() > 0) {
                long left = block.records().remaining();
                long offset = block.offset();
                block = null;
                throw blocks.damaged(
                        "the block at byte " + offset + " has " + left + " bytes behind its last record", null);
            }
        }

        /** Leaves out the rest of the block. */
        @Override
        public boolean skip() {
            if (damaged) {
                block = null;
                damaged = false;
                return true;
            }
            return false;
        }

        /** Returns the offset of the block times 2^24, plus the number of the record in the block. */
        @Override
        public long position() {
            return position;
        }

        @Override
        public void get(int column, ValueSink sink) throws BadValueException {
            decoder.slots()[column].give(sink);
        }

        @Override
        public void close() {}
    }
}

package dev.stoker.schemas.ledger;

import dev.stoker.schemas.avro.AvroOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.UUID;

/**
 * Writes one ledger file. Not thread-safe. It does not close the stream. It has the three methods of a Flink {@code
 * BulkWriter}, so such a writer can delegate to it.
 */
public final class LedgerWriter {

    private final OutputStream out;
    private final byte[] sync;
    private final AvroOutput block = new AvroOutput();
    private long blockRecords;
    private long records;
    private boolean finished;

    /**
     * Writes the header.
     *
     * @param sync 16 random bytes that mark the ends of blocks
     */
    public LedgerWriter(OutputStream out, byte[] sync) throws IOException {
        this.out = out;
        this.sync = sync.clone();
        out.write(LedgerFormat.header(this.sync));
    }

    /**
     * Encodes one record, including its checksum.
     *
     * @throws IllegalArgumentException if it is too long for a file
     */
    public static byte[] encode(LedgerRecord entry) {
        AvroOutput out = new AvroOutput();
        LedgerFormat.write(entry, out);
        if (out.size() > LedgerFormat.MAX_BLOCK_BYTES / 2) {
            throw new IllegalArgumentException("A ledger record of " + out.size() + " bytes is too long");
        }
        return out.toByteArray();
    }

    /**
     * Says that the following records come from another file.
     *
     * @param id the id in that file's name
     */
    public void beginPart(UUID id) throws IOException {
        requireOpen();
        LedgerFormat.writePart(id, block);
        blockRecords++;
        records++;
    }

    /** Appends a record. It may stay in memory until {@link #flush} or {@link #finish}. */
    public void write(LedgerRecord entry) throws IOException {
        writeEncoded(encode(entry));
    }

    /** Appends a record from {@link #encode}. */
    public void writeEncoded(byte[] encoded) throws IOException {
        requireOpen();
        block.writeFixed(encoded);
        blockRecords++;
        records++;
        if (block.size() >= LedgerFormat.BLOCK_BYTES) {
            endBlock();
        }
    }

    /** Writes all records to the stream and flushes it. */
    public void flush() throws IOException {
        endBlock();
        out.flush();
    }

    /** Writes the end record and flushes the stream. The file is then complete; no data may follow. */
    public void finish() throws IOException {
        requireOpen();
        LedgerFormat.writeEnd(records, block);
        blockRecords++;
        finished = true;
        flush();
    }

    private void requireOpen() {
        if (finished) {
            throw new IllegalStateException("The ledger file is finished");
        }
    }

    private void endBlock() throws IOException {
        if (blockRecords > 0) {
            AvroOutput frame = new AvroOutput();
            frame.writeLong(blockRecords);
            frame.writeLong(block.size());
            out.write(frame.toByteArray());
            out.write(block.array(), 0, block.size());
            out.write(sync);
            block.clear();
            blockRecords = 0;
        }
    }
}

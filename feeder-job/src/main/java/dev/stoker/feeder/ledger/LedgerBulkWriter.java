package dev.stoker.feeder.ledger;

import dev.stoker.schemas.ledger.LedgerWriter;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;

/** Writes encoded ledger records into one part file of Flink's file sink. */
final class LedgerBulkWriter implements BulkWriter<byte[]> {

    private final LedgerWriter writer;

    private LedgerBulkWriter(LedgerWriter writer) {
        this.writer = writer;
    }

    static BulkWriter<byte[]> open(FSDataOutputStream out) throws IOException {
        byte[] sync = new byte[16];
        ThreadLocalRandom.current().nextBytes(sync);
        return new LedgerBulkWriter(new LedgerWriter(out, sync));
    }

    @Override
    public void addElement(byte[] record) throws IOException {
        writer.writeEncoded(record);
    }

    @Override
    public void flush() throws IOException {
        writer.flush();
    }

    @Override
    public void finish() throws IOException {
        writer.finish();
    }
}

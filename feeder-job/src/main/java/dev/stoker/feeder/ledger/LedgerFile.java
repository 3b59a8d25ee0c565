package dev.stoker.feeder.ledger;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A whole file of the ledger. Its name has an id that begins with the time and is random otherwise, so whoever finds the
 * name taken knows that these very bytes were published before.
 *
 * @param name within the ledger's directory
 * @param bytes from the header to the end record
 */
record LedgerFile(String name, byte[] bytes) {

    private static final SecureRandom RANDOM = new SecureRandom();

    /** Whether anything was acknowledged, rather than only asked for. */
    boolean hasReceipts() {
        try {
            LedgerReader reader = new LedgerReader(new ByteArrayInputStream(bytes), name);
            Optional<LedgerRecord> next = reader.next();
            while (next.isPresent() && !(next.get() instanceof Receipts)) {
                next = reader.next();
            }
            return next.isPresent();
        } catch (IOException e) {
            // A sign too many is better than none, and than a file that is never written.
            return true;
        }
    }

    /** Makes a file of encoded records. */
    static LedgerFile of(List<byte[]> records) {
        byte[] sync = new byte[16];
        RANDOM.nextBytes(sync);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            LedgerWriter writer = new LedgerWriter(out, sync);
            for (byte[] entry : records) {
                writer.writeEncoded(entry);
            }
            writer.finish();
        } catch (IOException e) {
            throw new IllegalStateException("an array in memory cannot fail", e);
        }
        UUID id = ChunkNames.newId(System.currentTimeMillis(), RANDOM);
        return new LedgerFile("part-" + id + ".avro", out.toByteArray());
    }
}

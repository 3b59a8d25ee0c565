package dev.stoker.feeder.ledger;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A whole file of the ledger. Its name contains an id that begins with the time and is otherwise random. If the name
 * exists already, an earlier attempt published exactly these bytes.
 *
 * @param name name within the ledger's directory
 * @param bytes the content, from the header to the end record
 */
record LedgerFile(String name, byte[] bytes) {

    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * An epoch of a stream in which trainers acknowledged samples.
     *
     * @param pass stream, group and replica, as one text
     * @param epoch the epoch, from 0
     */
    record Delivery(String pass, long epoch) {}

    /** Returns the epochs in which trainers acknowledged samples; requests alone do not count. */
    Set<Delivery> deliveries() {
        Set<Delivery> deliveries = new LinkedHashSet<>();
        try {
            LedgerReader reader = new LedgerReader(new ByteArrayInputStream(bytes), name);
            for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
                if (next.get() instanceof Receipts receipts) {
                    Consumer of = receipts.consumer();
                    deliveries.add(new Delivery(
                            String.join("\n", of.stream(), of.group(), String.valueOf(of.replica()), of.fingerprint()),
                            receipts.epoch()));
                }
            }
        } catch (IOException e) {
            // An extra mark does no harm. A missing mark, or a file that is never written, does.
            deliveries.add(new Delivery(name, 0));
        }
        return deliveries;
    }

    /** Creates a file from encoded records. */
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

package dev.stoker.server.session.receipts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.ReceiptsItem;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many bytes of the ledger trainers can cause between two checkpoints. */
class LedgerBytesTest {
    private static final String FEED = "6f1d2c3b-4a59-5687-8000-000000000001";
    private static final String FINGERPRINT = "0123456789abcdef0123456789abcdef";
    private static final int CAPACITY = 1 << 14;
    /** A table of a million entries, the default, so lets at most 32 MiB into one checkpoint. */
    private static final int BYTES_OF_ENTRY = 32;

    /** Small ACK frames of a trainer with the longest names cost the most bytes. */
    @Test
    void theBytesOfACheckpointFollowTheCapacityOfTheTable() {
        for (String name : List.of("default", "a".repeat(64), "\u20ac".repeat(255))) {
            for (int count : new int[] {1, 10, 1000}) {
                AckTable table = new AckTable(CAPACITY);
                long bytes = 0;
                // Other places take what the first one has to leave.
                for (int replica = 0; replica < 10_000; replica++) {
                    Identity trainer = new Identity("train", name, Long.MAX_VALUE, 0, 1, 0, 1, replica);
                    AckTable.SessionReceipts session = table.session(() -> {}, () -> {}, () -> {});
                    while (session.offer(
                            new ReceiptsItem(0, trainer, FINGERPRINT, 0, -1, 0, new byte[count * 32]), count)) {
                        bytes += encoded(trainer, count);
                    }
                }
                assertThat(bytes).as(name + ", " + count).isLessThan((long) CAPACITY * BYTES_OF_ENTRY);
            }
        }
    }

    private static int encoded(Identity id, int count) {
        Consumer consumer = new Consumer(
                FEED,
                id.stream(),
                id.group(),
                FINGERPRINT,
                id.run(),
                id.rank(),
                id.worldSize(),
                id.worker(),
                id.workers(),
                id.replica());
        Receipt receipt = new Receipt(Integer.MAX_VALUE, 1000, false, 1000, 0, -1, 1000, 0);
        return LedgerWriter.encode(new Receipts(
                        System.currentTimeMillis(), consumer, 100, View.WHOLE_TAG, Collections.nCopies(count, receipt)))
                .length;
    }
}

package dev.stoker.feeder.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.ledger.LedgerName;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.server.Waiting;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LedgerMergerTest {

    private static final Instant START = Instant.parse("2026-11-20T12:00:00Z");

    private final Random random = new Random(3);
    private final InMemoryObjectStore ledger = new InMemoryObjectStore();

    private void write(Instant at) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new LedgerWriter(out, new byte[16]).finish();
        ledger.createIfAbsent(LedgerName.ofPart(ChunkNames.newId(at.toEpochMilli(), random)), out.toByteArray());
    }

    @Test
    void mergesAsTimePassesAndAfterFailures() throws IOException {
        for (int i = 0; i < 20; i++) {
            write(START.plusSeconds(i));
        }
        AtomicInteger opened = new AtomicInteger();
        LedgerPublisher.Opener opener = () -> {
            if (opened.incrementAndGet() < 3) {
                throw new IOException("not there");
            }
            return ledger;
        };
        LedgerMerger.Rounds often = new LedgerMerger.Rounds(Duration.ofMillis(1), Duration.ofMillis(1));
        try (LedgerMerger merger = new LedgerMerger("here", opener, () -> START.plus(Duration.ofHours(2)), often)) {
            Waiting.until(() -> files() == 1);
            write(START.plusSeconds(100));
            Waiting.until(() -> files() == 1);
            assertThat(merger).isNotNull();
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("stoker-ledger-merger");
    }

    private int files() {
        try {
            return LedgerName.list(ledger).size();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}

package dev.stoker.feeder.ledger;

import dev.stoker.metadata.ledger.LedgerMerge;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges the files of a ledger on its own thread, while the feed runs. One for each feed suffices, and more do no
 * harm. A failure is logged, and the next round tries again.
 */
final class LedgerMerger implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerMerger.class);
    private static final Duration CLOSE = Duration.ofSeconds(5);

    private final String where;
    private final LedgerPublisher.Opener opener;
    private final InstantSource clock;
    private final Rounds rounds;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    /** The time before the first round, and between rounds. */
    record Rounds(Duration first, Duration next) {
        static final Rounds USUAL = new Rounds(Duration.ofMinutes(1), Duration.ofMinutes(10));
    }

    /**
     * Starts the thread.
     *
     * @param where location of the ledger, for messages
     * @param opener opens the store of the ledger
     */
    LedgerMerger(String where, LedgerPublisher.Opener opener, InstantSource clock, Rounds rounds) {
        this.where = where;
        this.opener = opener;
        this.clock = clock;
        this.rounds = rounds;
        this.thread = new Thread(this::work, "stoker-ledger-merger");
        thread.setDaemon(true);
        thread.start();
    }

    private void work() {
        try {
            LedgerMerge merge = new LedgerMerge(new SecureRandom());
            Duration pause = rounds.first();
            while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                pause = rounds.next();
                merge(merge);
            }
        } catch (InterruptedException e) {
            // The merger was closed.
        }
    }

    private void merge(LedgerMerge merge) {
        try (ObjectStore store = opener.open()) {
            int replaced = merge.run(
                    store,
                    clock.instant(),
                    e -> LOG.warn("A ledger file is damaged, and is not merged: {}", e.getMessage()));
            if (replaced > 0) {
                LOG.info("Merged {} files of the ledger {}", replaced, where);
            }
        } catch (IOException | RuntimeException e) {
            if (closed.getCount() > 0) {
                LOG.warn("The files of the ledger {} were not merged; trying again later: {}", where, e.toString());
            }
        }
    }

    /** Lets a round that has begun end, but not for long. An unfinished merge leaves the files as they are. */
    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(CLOSE.toMillis());
            thread.interrupt();
            thread.join(CLOSE.toMillis());
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}

package dev.stoker.server.session.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.feed.Identity;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionWatchTest {
    private static final int ROWS = 8;

    private final SessionWatch watch = new SessionWatch(new Identity("train", "default", 1, 0, 1, 0, 1, 0), "test");

    private static Ack ack(long epoch, long first, long last, int pieces) {
        List<AckEntry> entries = new ArrayList<>();
        for (long number = first; number <= last; number++) {
            for (int piece = 0; piece < pieces; piece++) {
                entries.add(new AckEntry(number, piece, false, 0, ROWS, 0, ROWS, 0));
            }
        }
        return new Ack(1, epoch, entries);
    }

    private FeedStatus.Rank status() {
        return watch.status();
    }

    @Test
    void countsSamplesWhenTheyAreAcknowledgedAndNotWhenTheyAreSent() {
        watch.at(0, 0);
        watch.rows.add(100 * ROWS);
        watch.bytes.add(100_000);
        assertThat(status().used().rows()).isZero();
        assertThat(watch.consumed(ack(0, 0, 9, 1))).isEqualTo(10 * ROWS);
        assertThat(status().used().rows()).isEqualTo(10 * ROWS);
        assertThat(status().used().bytes()).isEqualTo(10_000);
        assertThat(status().next()).isEqualTo(10);
    }

    @Test
    void countsReceiptsThatAreRepeatedAfterAReconnectOnce() {
        watch.at(0, 0);
        watch.consumed(ack(0, 0, 9, 2));
        watch.at(0, 10);
        assertThat(watch.consumed(ack(0, 5, 9, 2))).isZero();
        assertThat(watch.consumed(ack(0, 8, 11, 2))).isEqualTo(4 * ROWS);
        assertThat(status().used().rows()).isEqualTo(24 * ROWS);
    }

    @Test
    void countsThePiecesOfABatchThatComeInSeveralReceipts() {
        watch.at(0, 3);
        assertThat(watch.consumed(new Ack(1, 0, List.of(new AckEntry(3, 0, false, 0, ROWS, 0, ROWS, 0)))))
                .isEqualTo(ROWS);
        assertThat(watch.consumed(new Ack(1, 0, List.of(new AckEntry(3, 1, false, 0, ROWS, 0, ROWS, 0)))))
                .isEqualTo(ROWS);
        assertThat(watch.consumed(ack(1, 0, 0, 1))).as("the next epoch").isEqualTo(ROWS);
        assertThat(watch.consumed(ack(0, 3, 3, 2))).as("repeated behind it").isZero();
    }

    @Test
    void countsAgainWhatATrainerReadsAgainFromAnEarlierPosition() {
        watch.at(0, 0);
        watch.consumed(ack(0, 0, 9, 1));
        watch.at(0, 5);
        assertThat(watch.consumed(ack(0, 5, 6, 1))).isEqualTo(2 * ROWS);
    }
}

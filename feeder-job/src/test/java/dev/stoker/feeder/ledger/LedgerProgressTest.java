package dev.stoker.feeder.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class LedgerProgressTest {
    private static final UUID FEED = new UUID(1, 2);

    @Test
    void aCancelledAttemptThatBeginsLateDoesNotHideItsSuccessor() {
        LedgerProgress successor = LedgerProgress.begin(FEED, 0);
        successor.reached(7);
        LedgerProgress cancelled = LedgerProgress.begin(FEED, 0);
        assertThat(LedgerProgress.published(FEED, 0)).isEqualTo(7);
        successor.reached(8);
        cancelled.end();
        assertThat(LedgerProgress.published(FEED, 0)).isEqualTo(8);
        successor.end();
        assertThat(LedgerProgress.published(FEED, 0)).isZero();
    }

    @Test
    void tasksAreApart() {
        LedgerProgress one = LedgerProgress.begin(FEED, 0);
        LedgerProgress other = LedgerProgress.begin(FEED, 1);
        one.reached(3);
        assertThat(LedgerProgress.published(FEED, 1)).isZero();
        one.end();
        other.end();
    }
}

package dev.stoker.server.session.receipts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AckTableTest {
    private static final Identity TRAINER = new Identity("train", "default", 1, 0, 1, 0, 1, 0);

    private final AtomicInteger durableCalls = new AtomicInteger();
    private final AtomicInteger roomCalls = new AtomicInteger();
    private final AtomicInteger refusedCalls = new AtomicInteger();
    private final AckTable table = new AckTable(200);

    private AckTable.SessionReceipts session() {
        return table.session(durableCalls::incrementAndGet, roomCalls::incrementAndGet, refusedCalls::incrementAndGet);
    }

    private static ReceiptsItem receipts(int count, long epoch) {
        return receipts(TRAINER, count, epoch);
    }

    private static ReceiptsItem receipts(Identity trainer, int count, long epoch) {
        return new ReceiptsItem(0, trainer, "f", epoch, -1, 0, new byte[count * 32]);
    }

    private static Identity rank(int rank, long run) {
        return new Identity("train", "default", run, rank, 100, 0, 1, 0);
    }

    @Test
    void onlyTheReaderThatAskedFirstDrains() {
        AckTable.SessionReceipts session = session();
        AckTable.Drain one = table.drain();
        AckTable.Drain two = table.drain();
        assertThat(one.available()).isNotCompleted();
        CompletableFuture<Void> turn = two.available();
        session.offer(receipts(5, 1), 5);
        session.offer(receipts(7, 2), 7);

        assertThat(two.drain(item -> true, 100)).isZero();
        assertThat(one.drain(item -> true, 5)).isEqualTo(5);
        one.markDurable(one.token());
        assertThat(session.durable()).isEqualTo(5);
        assertThat(turn).isNotCompleted();
        one.close();
        assertThat(turn).isCompleted();
        assertThat(two.drain(item -> true, 100)).isEqualTo(7);
        two.markDurable(two.token());
        assertThat(session.durable()).isEqualTo(12);
        assertThat(durableCalls).hasValue(2);
        assertThat(table.pending()).isZero();
    }

    @Test
    void tokenCoversOnlyWhatWasDrainedBeforeIt() {
        AckTable.SessionReceipts session = session();
        AckTable.Drain drain = table.drain();
        session.offer(receipts(5, 1), 5);
        drain.drain(item -> true, 100);
        long token = drain.token();
        session.offer(receipts(7, 1), 7);
        drain.drain(item -> true, 100);

        drain.markDurable(token);
        assertThat(session.durable()).isEqualTo(5);
        drain.markDurable(token);
        assertThat(session.durable()).isEqualTo(5);
        drain.markDurable(drain.token());
        assertThat(session.durable()).isEqualTo(12);
    }

    @Test
    void givesBackInOrderWhatAClosedReaderDidNotMakeDurable() {
        AckTable.SessionReceipts session = session();
        AckTable.Drain failed = table.drain();
        for (int epoch = 1; epoch <= 3; epoch++) {
            session.offer(receipts(1, epoch), 1);
        }
        failed.drain(item -> true, 2);
        failed.close();

        List<Long> epochs = new ArrayList<>();
        AckTable.Drain next = table.drain();
        assertThat(next.available()).isCompleted();
        next.drain((LedgerItem item) -> epochs.add(item.epoch()), 100);
        assertThat(epochs).containsExactly(1L, 2L, 3L);
        assertThat(next.available()).isNotCompleted();
        next.markDurable(next.token());
        assertThat(session.durable()).isEqualTo(3);
    }

    @Test
    void dropsWhatCannotBeWrittenAndEndsItsSession() {
        AckTable.SessionReceipts bad = session();
        AckTable.SessionReceipts good = session();
        bad.offer(receipts(3, 1), 3);
        good.offer(receipts(2, 2), 2);
        bad.offer(receipts(4, 3), 4);
        AckTable.Drain drain = table.drain();
        assertThat(drain.drain(item -> item.epoch() != 1, 100)).isEqualTo(9);
        assertThat(refusedCalls).hasValue(1);
        assertThat(bad.offer(receipts(1, 4), 1)).as("nothing after a gap").isFalse();
        drain.markDurable(drain.token());
        assertThat(good.durable()).isEqualTo(2);
        assertThat(bad.durable()).isZero();
        assertThat(table.pending()).isZero();
        drain.close();
        assertThat(table.drain().drain(item -> true, 100)).as("given back").isZero();
    }

    @Test
    void asksASessionThatFoundNoRoomToReconnectOnceThereIsRoom() {
        AckTable.SessionReceipts session = session();
        AckTable.SessionReceipts other = session();
        AckTable.Drain drain = table.drain();
        assertThat(session.offer(receipts(60, 1), 60)).isTrue();
        assertThat(other.offer(receipts(rank(1, 1), 180, 1), 180)).isFalse();
        assertThat(other.offer(receipts(rank(1, 1), 1, 1), 1))
                .as("nothing after a gap")
                .isFalse();
        assertThat(session.offer(receipts(10, 1), 10)).isTrue();
        drain.drain(item -> true, 1000);
        assertThat(roomCalls).hasValue(0);
        drain.markDurable(drain.token());
        assertThat(roomCalls).hasValue(1);
        assertThat(other.durable()).isZero();
    }

    /** Receipts are durable one checkpoint after they were drained. */
    @Test
    void aTrainerWithMoreReceiptsThanItsShareMakesSomeOfThemDurableOverEachConnection() {
        AckTable.Drain drain = table.drain();
        int left = 20;
        for (int connection = 0; left > 0; connection++) {
            assertThat(connection).as("connections").isLessThan(20);
            AckTable.SessionReceipts session = session();
            for (int i = 0; i < left; i++) {
                session.offer(receipts(10, 1), 10);
            }
            int asked = roomCalls.get();
            long token = drain.token();
            for (int checkpoint = 0;
                    roomCalls.get() == asked && session.durable() < 10L * left && checkpoint < 5;
                    checkpoint++) {
                drain.drain(item -> true, 1000);
                long next = drain.token();
                drain.markDurable(token);
                token = next;
            }
            left -= (int) session.durable() / 10;
            session.end();
        }
    }

    @Test
    void namesTheGroupsWhoseReceiptsAreOnTheirWay() {
        GroupName group = GroupName.of(TRAINER);
        AckTable.SessionReceipts session = session();
        AckTable.Drain drain = table.drain();
        assertThat(drain.drain(item -> true, 100)).isZero();
        assertThat(drain.owing()).isEmpty();
        session.offer(receipts(5, 1), 5);
        assertThat(drain.owing()).containsExactly(group);
        drain.drain(item -> true, 100);
        assertThat(drain.owing()).containsExactly(group);
        assertThat(table.drain().owing()).as("of a reader that does not drain").isEmpty();
        drain.markDurable(drain.token());
        assertThat(drain.owing()).isEmpty();
    }

    @Test
    void aGroupOwesReceiptsThatFoundNoRoomUntilItsTrainerConnectsAgain() {
        AckTable.SessionReceipts session = session();
        AckTable.Drain drain = table.drain();
        session.offer(receipts(60, 1), 60);
        session.offer(receipts(60, 2), 60);
        drain.drain(item -> true, 1000);
        drain.markDurable(drain.token());
        assertThat(table.pending()).isZero();
        assertThat(drain.owing()).containsExactly(GroupName.of(TRAINER));
        session.end();
        assertThat(drain.owing()).isEmpty();
    }

    @Test
    void endedSessionIsNotCalled() {
        AckTable.SessionReceipts session = session();
        session.offer(receipts(190, 1), 190);
        assertThat(session.offer(receipts(1, 1), 1)).isFalse();
        session.end();
        AckTable.Drain drain = table.drain();
        drain.drain(item -> true, 1000);
        drain.markDurable(drain.token());
        assertThat(roomCalls).hasValue(0);
    }

    @Test
    void aTrainerThatFloodsTheTableLeavesRoomForOthers() {
        AckTable.SessionReceipts flooding = session();
        int taken = 0;
        while (flooding.offer(receipts(rank(0, 1), 1, 1), 1)) {
            taken++;
        }
        assertThat(taken).as("about half of 200, each costs 9").isEqualTo(11);
        // A new connection of the same trainer, even in a new run, gets no separate share.
        assertThat(session().offer(receipts(rank(0, 2), 1, 1), 1)).isFalse();
        for (int rank = 1; rank <= 5; rank++) {
            assertThat(session().offer(receipts(rank(rank, 1), 1, 1), 1))
                    .as("rank %s", rank)
                    .isTrue();
        }
    }

    @Test
    void whatHasBecomeDurableIsRoomAgain() {
        AckTable.Drain drain = table.drain();
        for (int round = 0; round < 100; round++) {
            AckTable.SessionReceipts session = session();
            assertThat(session.offer(receipts(rank(0, 1), 80, round), 80))
                    .as("round %s", round)
                    .isTrue();
            drain.drain(item -> true, 1000);
            drain.markDurable(drain.token());
            assertThat(session.durable()).isEqualTo(80);
        }
        assertThat(table.pending()).isZero();
    }

    @Test
    void aFrameThatIsLargerThanTheTableIsTakenWhenItIsEmpty() {
        assertThat(session().offer(receipts(1000, 1), 1000)).isTrue();
        assertThat(session().offer(receipts(rank(1, 1), 1, 1), 1)).isFalse();
    }
}

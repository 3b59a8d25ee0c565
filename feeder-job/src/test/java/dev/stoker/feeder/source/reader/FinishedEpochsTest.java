package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class FinishedEpochsTest {

    private static final String PRINT = "0".repeat(32);

    private final FinishedEpochs finished = new FinishedEpochs();

    private static Identity identity(long run) {
        return new Identity("train", "g", run, 1, 2, 0, 1, 0);
    }

    private static SubscriptionItem subscription(long run, long epoch, long count) {
        return subscription(run, epoch, 1, count, OptionalLong.of(1 + (count - 1) * 2));
    }

    private static SubscriptionItem subscription(long run, long epoch, long first, long count, OptionalLong end) {
        Subscribe asked = new Subscribe(1, epoch, first, 2, count, TailPolicy.PAD, List.of());
        return new SubscriptionItem(0, identity(run), PRINT, 1, "{}", "{}", "[]", asked, end);
    }

    private static ReceiptsItem receipts(long run, long epoch, long... numbers) {
        ByteBuffer entries = ByteBuffer.allocate(32 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long number : numbers) {
            entries.putLong(number)
                    .putShort((short) 0)
                    .putShort((short) 0)
                    .putInt(0)
                    .putInt(4)
                    .putInt(0)
                    .putInt(4)
                    .putInt(0);
        }
        return new ReceiptsItem(0, identity(run), PRINT, epoch, -1, 0, entries.array());
    }

    private void add(LedgerItem item) {
        finished.add(item, 1);
    }

    private List<Long> epochs() {
        return finished.all().stream().map(ConsumerProgress::epochs).toList();
    }

    @Test
    void seesTheLastNumberOfASubscription() {
        add(subscription(5, 0, 3));
        add(receipts(5, 0, 1, 3));
        assertThat(epochs()).containsExactly(0L);
        add(receipts(5, 0, 5));
        assertThat(finished.all()).containsExactly(new ConsumerProgress(identity(5), 1));
    }

    @Test
    void countsAnEmptySubscriptionAsFinished() {
        add(subscription(5, 0, 0));
        assertThat(epochs()).containsExactly(1L);
    }

    @Test
    void passesOverReceiptsOfAnotherRunOrEpoch() {
        add(subscription(5, 1, 1));
        add(receipts(4, 1, 1));
        add(receipts(5, 0, 1));
        assertThat(epochs()).containsExactly(0L);
    }

    @Test
    void keepsTheNewestOfEachConsumer() {
        for (long epoch = 0; epoch < 100; epoch++) {
            add(subscription(5, epoch, 1));
            add(receipts(5, epoch, 1));
        }
        assertThat(epochs()).containsExactly(100L);
        assertThat(finished.takeNews()).containsExactly(new ConsumerProgress(identity(5), 0));
    }

    @Test
    void knowsTheEndOfAnEpochWhenTheNextIsAskedForEarly() {
        add(subscription(5, 0, 3));
        add(subscription(5, 1, 3));
        add(receipts(5, 0, 5));
        assertThat(epochs()).containsExactly(1L);
    }

    @Test
    void receiptsThatAreRepeatedAfterAReconnectEndNothing() {
        add(subscription(5, 0, 50));
        // The new connection asks for all numbers from the first missing one on, and repeats receipts that are not
        // durable.
        add(subscription(5, 0, 21, 40, OptionalLong.of(99)));
        add(subscription(5, 0, 11, 4, OptionalLong.empty()));
        add(receipts(5, 0, 11, 13, 15, 17));
        add(receipts(5, 0, 21));
        assertThat(epochs()).containsExactly(0L);
        add(receipts(5, 0, 99));
        assertThat(epochs()).containsExactly(1L);
    }

    @Test
    void aPartOfAnEpochEndsNothing() {
        add(subscription(5, 0, 1, 10, OptionalLong.empty()));
        add(receipts(5, 0, 19));
        assertThat(epochs()).containsExactly(0L);
    }

    @Test
    void askingForNothingMoreWaitsForTheReceiptOfTheLastNumber() {
        add(subscription(5, 0, 7, 0, OptionalLong.of(5)));
        add(receipts(5, 0, 1, 3));
        assertThat(epochs()).isEmpty();
        add(receipts(5, 0, 5));
        assertThat(epochs()).containsExactly(1L);
    }

    @Test
    void aTrainerThatAsksForNothingDoesNotHoldTheFeed() {
        // It began in the middle of the epoch, after all of its numbers.
        add(subscription(5, 0, 7, 0, OptionalLong.of(5)));
        assertThat(epochs()).isEmpty();
    }

    @Test
    void aReplicaIsAConsumerOfItsOwn() {
        Identity other = new Identity("train", "g", 5, 1, 2, 0, 1, 1);
        add(subscription(5, 0, 1));
        add(new SubscriptionItem(
                0,
                other,
                PRINT,
                1,
                "{}",
                "{}",
                "[]",
                new Subscribe(1, 0, 1, 2, 1, TailPolicy.PAD, List.of()),
                OptionalLong.of(1)));
        add(receipts(5, 0, 1));
        assertThat(finished.all())
                .containsExactlyInAnyOrder(new ConsumerProgress(identity(5), 1), new ConsumerProgress(other, 0));
    }

    @Test
    void callsAnEpochFinishedWhenItsLastReceiptIsDurable() {
        finished.add(subscription(5, 0, 1), 1);
        finished.add(receipts(5, 0, 1), 2);
        assertThat(finished.takeNews()).containsExactly(new ConsumerProgress(identity(5), 0));
        assertThat(finished.all()).containsExactly(new ConsumerProgress(identity(5), 1));
        finished.markDurable(1);
        assertThat(finished.hasNews()).isFalse();
        finished.markDurable(2);
        assertThat(finished.hasNews()).isTrue();
        assertThat(finished.takeNews()).containsExactly(new ConsumerProgress(identity(5), 1));
    }

    @Test
    void takesWhatACheckpointHeldAsDurable() {
        finished.restore(List.of(new ConsumerProgress(identity(5), 1)));
        assertThat(finished.takeNews()).containsExactly(new ConsumerProgress(identity(5), 1));
    }
}

package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.feeder.source.split.ConsumerEnd;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.protocol.Subscribe;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ConsumerEndsTest {

    private static final String PRINT = "0".repeat(32);

    private final ConsumerEnds ends = new ConsumerEnds();

    private static Identity identity(long run) {
        return new Identity("train", "g", run, 1, 2, 0, 1, 0);
    }

    private static SubscriptionItem subscription(long run, long epoch, long count) {
        return subscription(run, epoch, 1, count, OptionalLong.of(1 + (count - 1) * 2));
    }

    private static SubscriptionItem subscription(long run, long epoch, long first, long count, OptionalLong end) {
        Subscribe asked = new Subscribe(1, epoch, first, 2, count, TailPolicy.PAD, List.of());
        return new SubscriptionItem(0, identity(run), PRINT, 1, "{}", asked, end);
    }

    private static ReceiptsItem receipts(long run, long epoch, long... numbers) {
        ByteBuffer entries = ByteBuffer.allocate(24 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long number : numbers) {
            entries.putLong(number)
                    .putShort((short) 0)
                    .putShort((short) 0)
                    .putInt(0)
                    .putInt(4)
                    .putInt(0);
        }
        return new ReceiptsItem(0, identity(run), PRINT, epoch, -1, entries.array());
    }

    @Test
    void seesTheLastNumberOfASubscription() {
        ends.add(subscription(5, 0, 3));
        ends.add(receipts(5, 0, 1, 3));
        assertThat(ends.all()).isEmpty();
        ends.add(receipts(5, 0, 5));
        assertThat(ends.all()).containsExactly(new ConsumerEnd("train", "g", 5, 0, 1, 2, 0, 1));
    }

    @Test
    void countsAnEmptySubscriptionAsFinished() {
        ends.add(subscription(5, 0, 0));
        assertThat(ends.all()).hasSize(1);
    }

    @Test
    void passesOverReceiptsOfAnotherRunOrEpoch() {
        ends.add(subscription(5, 1, 1));
        ends.add(receipts(4, 1, 1));
        ends.add(receipts(5, 0, 1));
        assertThat(ends.all()).isEmpty();
    }

    @Test
    void keepsOneEndAConsumer() {
        for (long epoch = 0; epoch < 100; epoch++) {
            ends.add(subscription(5, epoch, 1));
            ends.add(receipts(5, epoch, 1));
        }
        assertThat(ends.all()).extracting(ConsumerEnd::epoch).containsExactly(99L);
        assertThat(ends.changes()).isEqualTo(100);
    }

    @Test
    void knowsTheEndOfAnEpochWhenTheNextIsAskedForEarly() {
        ends.add(subscription(5, 0, 3));
        ends.add(subscription(5, 1, 3));
        ends.add(receipts(5, 0, 5));
        assertThat(ends.all()).extracting(ConsumerEnd::epoch).containsExactly(0L);
    }

    @Test
    void receiptsThatAreRepeatedAfterAReconnectEndNothing() {
        ends.add(subscription(5, 0, 50));
        // The new connection asks from the first number on that has not arrived, and repeats what is not durable.
        ends.add(subscription(5, 0, 21, 40, OptionalLong.of(99)));
        ends.add(subscription(5, 0, 11, 4, OptionalLong.empty()));
        ends.add(receipts(5, 0, 11, 13, 15, 17));
        ends.add(receipts(5, 0, 21));
        assertThat(ends.all()).isEmpty();
        ends.add(receipts(5, 0, 99));
        assertThat(ends.all()).hasSize(1);
    }

    @Test
    void aPartOfAnEpochEndsNothing() {
        ends.add(subscription(5, 0, 1, 10, OptionalLong.empty()));
        ends.add(receipts(5, 0, 19));
        assertThat(ends.all()).isEmpty();
    }

    @Test
    void askingForNothingMoreWaitsForTheReceiptOfTheLastNumber() {
        ends.add(subscription(5, 0, 7, 0, OptionalLong.of(5)));
        ends.add(receipts(5, 0, 1, 3));
        assertThat(ends.all()).isEmpty();
        ends.add(receipts(5, 0, 5));
        assertThat(ends.all()).hasSize(1);
    }
}

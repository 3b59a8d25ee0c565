package dev.stoker.flink.arguments;

import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import org.apache.flink.configuration.MemorySize;

/** The options of an order, for the jobs that read samples in the order of an epoch. */
public final class OrderFlags {
    private OrderFlags() {}

    /** Declares the option for the samples of a batch. */
    public static JobOption<Integer> batchSize(OptionHeading heading) {
        return heading.number("batch-size")
                .defaultValue(OrderSpec.defaults().batchSize())
                .within(1, OrderSpec.MAX_BATCH_SIZE)
                .withDescription("Samples per batch of one rank.");
    }

    /** Declares the option for the seed. */
    public static JobOption<Long> seed(OptionHeading heading) {
        return heading.longNumber("seed")
                .defaultValue(OrderSpec.defaults().seed())
                .atLeast(0, "is less than 0")
                .withDescription("Seed of the order.");
    }

    /**
     * Declares the option for the number of lanes.
     *
     * @param description of the option
     */
    public static JobOption<Integer> lanes(OptionHeading heading, String description) {
        return heading.number("lanes")
                .defaultValue(OrderSpec.defaults().lanes())
                .within(1, OrderSpec.MAX_LANES)
                .withDescription(description);
    }

    /** Declares the option for the bytes that are shuffled together. */
    public static JobOption<MemorySize> shuffleWindow(OptionHeading heading) {
        return heading.size("shuffle-window")
                .defaultValue(MemorySize.ofMebiBytes(OrderSpec.defaults().shuffleWindowBytes() >> 20))
                .withDescription("Bytes of chunks that are shuffled together, over all lanes.");
    }

    /** Declares the option for the shuffle policy. */
    public static JobOption<String> shuffle(OptionHeading heading) {
        return heading.choice("shuffle", ShufflePolicy.class)
                .defaultValue(OrderSpec.defaults().shuffle().text())
                .withDescription("How samples are shuffled: window, or none.");
    }

    /** Declares the option for the order of the lanes. */
    public static JobOption<String> laneOrder(OptionHeading heading) {
        return heading.choice("lane-order", LaneOrder.class)
                .defaultValue(OrderSpec.defaults().laneOrder().text())
                .withDescription("How lanes take turns: mixed, or fixed.");
    }
}

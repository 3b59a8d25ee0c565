package dev.stoker.flink.arguments;

import dev.stoker.schemas.order.OrderSpec;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The options of an order, for the jobs that read samples in the order of an epoch. */
public final class OrderFlags {
    private OrderFlags() {}

    /** Returns the option for the samples of a batch. */
    public static ConfigOption<Integer> batchSize(String prefix) {
        return ConfigOptions.key(prefix + "batch-size")
                .intType()
                .defaultValue(OrderSpec.defaults().batchSize())
                .withDescription("Samples per batch of one rank.");
    }

    /** Returns the option for the seed. */
    public static ConfigOption<Long> seed(String prefix) {
        return ConfigOptions.key(prefix + "seed")
                .longType()
                .defaultValue(OrderSpec.defaults().seed())
                .withDescription("Seed of the order.");
    }

    /**
     * Returns the option for the number of lanes.
     *
     * @param description of the option
     */
    public static ConfigOption<Integer> lanes(String prefix, String description) {
        return ConfigOptions.key(prefix + "lanes")
                .intType()
                .defaultValue(OrderSpec.defaults().lanes())
                .withDescription(description);
    }

    /** Returns the option for the bytes that are shuffled together. */
    public static ConfigOption<MemorySize> shuffleWindow(String prefix) {
        return ConfigOptions.key(prefix + "shuffle-window")
                .memoryType()
                .defaultValue(MemorySize.ofMebiBytes(OrderSpec.defaults().shuffleWindowBytes() >> 20))
                .withDescription("Bytes of chunks that are shuffled together, over all lanes.");
    }

    /** Returns the option for the shuffle policy. */
    public static ConfigOption<String> shuffle(String prefix) {
        return ConfigOptions.key(prefix + "shuffle")
                .stringType()
                .defaultValue(OrderSpec.defaults().shuffle().text())
                .withDescription("How samples are shuffled: window, or none.");
    }

    /** Returns the option for the order of the lanes. */
    public static ConfigOption<String> laneOrder(String prefix) {
        return ConfigOptions.key(prefix + "lane-order")
                .stringType()
                .defaultValue(OrderSpec.defaults().laneOrder().text())
                .withDescription("How lanes take turns: mixed, or fixed.");
    }
}

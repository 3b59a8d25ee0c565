package dev.stoker.examples;

import dev.stoker.client.Batch;
import dev.stoker.client.FeedClient;
import dev.stoker.client.FeedClientBuilder;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the samples of each class in one epoch. It reads the feed that {@code stoker run} started:
 *
 * <pre> ./stoker run ./data/photos -- java -cp 'client/target/dist/*'
 * examples/src/main/java/dev/stoker/examples/LabelCounts.java
 * </pre>
 */
public final class LabelCounts {
    private LabelCounts() {}

    public static void main(String[] args) {
        FeedClientBuilder feedOfTheEnvironment = FeedClient.ofEnvironment().steps(s -> s.tail(TailPolicy.KEEP));
        Map<String, Integer> counts = new TreeMap<>();
        try (FeedClient feed = feedOfTheEnvironment.open()) {
            for (Batch batch : feed.epoch()) {
                for (int row = 0; row < batch.rows(); row++) {
                    counts.merge(batch.className("label", row).orElse("none"), 1, Integer::sum);
                }
                batch.close();
            }
        }
        counts.forEach((name, count) -> System.out.println(name + " " + count));
    }
}

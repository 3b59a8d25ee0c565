package dev.stoker.client;

import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Feeds out of topics in memory, which are closed after each test. */
public final class TopicFeeds implements AfterEachCallback {
    private final List<FeedClient> opened = new ArrayList<>();

    /** What a feed to a topic is of: the order of its lanes is fixed. */
    public static FakeStream stream(String fingerprint, int batchSize, long... laneRows) {
        OrderSpec d = OrderSpec.defaults();
        OrderSpec order =
                new OrderSpec(5, batchSize, laneRows.length, d.shuffleWindowBytes(), d.shuffle(), LaneOrder.FIXED);
        return new FakeStream(order, laneRows, fingerprint);
    }

    public static FakeStream stream(int batchSize, long... laneRows) {
        return stream("00112233445566778899aabbccddeeff", batchSize, laneRows);
    }

    public static FeedClientBuilder client(FakeTopic from) {
        return FeedClient.of("kafka://broker:9092/photos").environment(Map.of()).topicLogs(from::log);
    }

    public FeedClient open(FeedClientBuilder builder) {
        FeedClient feed = builder.open();
        opened.add(feed);
        return feed;
    }

    public FeedClient open(FakeTopic from) {
        return open(client(from));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        opened.forEach(FeedClient::close);
    }
}

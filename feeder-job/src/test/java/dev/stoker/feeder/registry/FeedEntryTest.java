package dev.stoker.feeder.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.StreamSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FeedEntryTest {
    private static final UUID FEED = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000001");
    private static final UUID DATASET = UUID.fromString("01990000-0000-7000-8000-000000000001");
    private static final String ORDER = "{\"batch_size\":64,\"lanes\":8}";

    private static FeedEntry entry(boolean follows, FeedEntry.Output output) {
        return new FeedEntry(
                "photos",
                FEED,
                OptionalLong.of(4711),
                1_790_000_000_000L,
                List.of(new StreamSpec("train", "/data/photos", DATASET, 3, "train", follows)),
                ORDER,
                output);
    }

    private static FeedEntry trainers() {
        return entry(
                false,
                new FeedEntry.Trainers(
                        List.of("10.0.0.1:7420", "10.0.0.2:7420"),
                        Map.of(
                                "10.0.0.1:7420",
                                new UnixAddress(
                                        "4b1f4a0c-0000-4000-8000-000000000001/pid:[1]", "/tmp/stoker/7420.sock")),
                        List.of("http://127.0.0.1:7430"),
                        "/data/photos/_stoker/feeds/" + FEED + "/ledger",
                        Optional.of("/etc/stoker/token"),
                        Optional.of("/etc/stoker/cert.pem")));
    }

    private static String golden(String name) throws IOException {
        try (InputStream in = FeedEntryTest.class.getResourceAsStream("/golden/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void anEntryOfTrainersHasTheBytesOfTheGoldenFile() throws IOException {
        assertThat(trainers().running().toString()).isEqualTo(golden("feed-entry-1.json"));
    }

    @Test
    void anEntryOfATopicHasTheBytesOfTheGoldenFile() throws IOException {
        FeedEntry entry =
                entry(true, new FeedEntry.Topic("broker-0:9092,broker-1:9092", "photos", 8, 8, "exactly-once"));
        assertThat(entry.running().toString()).isEqualTo(golden("feed-entry-1-topic.json"));
    }

    @Test
    void theEndIsAddedToTheEntry() throws IOException {
        assertThat(trainers().ended(5).path("ended_ms").asLong()).isEqualTo(5);
        assertThat(trainers().running().has("ended_ms")).isFalse();
    }
}

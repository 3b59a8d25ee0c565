package dev.stoker.feeder.source.split;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.feed.Identity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The feeder limits the progress of all consumers by the size of one: 40 bytes and its names. */
class ConsumerProgressSizeTest {

    @Test
    void aConsumerTakesNoMoreThanTheFeederCounts() throws IOException {
        LaneSplitSerializer serializer = new LaneSplitSerializer();
        for (String group : List.of("g", "\u20ac".repeat(255))) {
            Identity consumer = new Identity("train", group, Long.MAX_VALUE, 1, 2, 3, 4, 5);
            int more =
                    serializer.serialize(LaneSplit.of(List.of(new ConsumerProgress(consumer, Long.MAX_VALUE)))).length
                            - serializer.serialize(LaneSplit.of(List.of())).length;
            assertThat(more).isEqualTo(40 + "train".length() + group.getBytes(StandardCharsets.UTF_8).length);
        }
    }
}

package dev.stoker.feeder.source.split;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.feed.Identity;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneSplitSerializerTest {

    private final LaneSplitSerializer serializer = new LaneSplitSerializer();

    @Test
    void readsWhatItWrote() throws IOException {
        ConsumerProgress progress = new ConsumerProgress(new Identity("träin", "g", 1L << 40, 1, 2, 0, 4, 3), 4);
        for (LaneSplit split : List.of(LaneSplit.of("träin", 7), LaneSplit.of(List.of(progress)))) {
            assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(split)))
                    .isEqualTo(split);
        }
    }

    @Test
    void refusesAnotherVersion() {
        assertThatThrownBy(() -> serializer.deserialize(1, new byte[0])).hasMessageContaining("version 1");
        assertThatThrownBy(() -> serializer.deserialize(4, new byte[0])).hasMessageContaining("version 4");
    }
}

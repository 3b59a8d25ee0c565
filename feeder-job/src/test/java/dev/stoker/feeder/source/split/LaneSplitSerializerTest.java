package dev.stoker.feeder.source.split;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneSplitSerializerTest {

    private final LaneSplitSerializer serializer = new LaneSplitSerializer();

    @Test
    void readsWhatItWrote() throws IOException {
        LaneSplit split = new LaneSplit("träin", 7, List.of(new ConsumerEnd("träin", "g", 1L << 40, 3, 1, 2, 0, 4)));
        assertThat(serializer.deserialize(serializer.getVersion(), serializer.serialize(split)))
                .isEqualTo(split);
    }

    @Test
    void refusesANewerVersion() {
        assertThatThrownBy(() -> serializer.deserialize(2, new byte[0])).hasMessageContaining("version 2");
    }
}

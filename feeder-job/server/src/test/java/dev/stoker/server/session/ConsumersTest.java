package dev.stoker.server.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.server.feed.Identity;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsumersTest {

    private static Identity consumer(String group, int replica, int rank, long run) {
        return new Identity("train", group, run, rank, 1 << 16, 0, 1, replica);
    }

    @Test
    void refusesGroupsReplicasAndRanksBeyondTheLimit() throws Exception {
        Consumers consumers = new Consumers(group -> true, 200);
        consumers.add(consumer("default", 0, 0, 1));
        consumers.add(consumer("default", 0, 1, 1));
        consumers.add(consumer("default", 1, 0, 1));

        for (Identity more :
                List.of(consumer("other", 0, 0, 1), consumer("default", 2, 0, 1), consumer("default", 0, 2, 1))) {
            assertThatThrownBy(() -> consumers.add(more))
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("the feed waits for 3 consumers")
                    .hasMessageContaining("--groups");
        }
        assertThat(consumers.size()).isEqualTo(3);
    }

    @Test
    void restoredConsumersCountAndMayExceedTheLimit() throws Exception {
        Consumers consumers = new Consumers(group -> true, 120);
        for (int rank = 0; rank < 5; rank++) {
            consumers.restore(consumer("default", 0, rank, 1));
        }
        consumers.add(consumer("default", 0, 4, 2));
        assertThatThrownBy(() -> consumers.add(consumer("default", 0, 5, 1)))
                .hasMessageContaining("the feed waits for 5 consumers");
    }

    @Test
    void knownConsumersReturnInAnyRun() throws Exception {
        Consumers consumers = new Consumers(group -> true, 60);
        for (long run = 1; run < 100; run++) {
            consumers.add(consumer("default", 0, 0, run));
        }
        assertThat(consumers.size()).isEqualTo(1);
    }
}

package dev.stoker.feeder.node.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import dev.stoker.schemas.protocol.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsumersTest {

    /** Of Flink's state in the memory of the JobManager. */
    private static final int STATE_LIMIT = 5 << 20;

    private static Identity consumer(String group, int replica, int rank, long run) {
        return new Identity("train", group, run, rank, 1 << 16, 0, 1, replica);
    }

    @Test
    void refusesGroupsReplicasAndRanksBeyondTheLimit() throws Exception {
        Consumers consumers = new Consumers(200);
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
    void knownConsumersReturnInAnyRun() throws Exception {
        Consumers consumers = new Consumers(60);
        for (long run = 1; run < 100; run++) {
            consumers.add(consumer("default", 0, 0, run));
        }
        assertThat(consumers.size()).isEqualTo(1);
    }

    @Test
    void asManyAsAreAdmittedFitIntoACheckpoint() throws Exception {
        for (String prefix : List.of("g", "\u20ac".repeat(200))) {
            Consumers consumers = new Consumers();
            List<ConsumerProgress> progress = new ArrayList<>();
            try {
                while (true) {
                    Identity next = consumer(prefix + progress.size(), 0, 0, Long.MAX_VALUE);
                    consumers.add(next);
                    progress.add(new ConsumerProgress(next, Long.MAX_VALUE));
                }
            } catch (ProtocolException e) {
                assertThat(progress).hasSizeGreaterThan(5000);
            }
            byte[] state = new LaneSplitSerializer().serialize(new LaneSplit("train", 0, progress));
            assertThat(state.length).isBetween((int) (Consumers.MAX_BYTES * 0.9), STATE_LIMIT);
        }
    }
}

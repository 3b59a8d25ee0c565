package dev.stoker.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class MachineTest {

    @Test
    void onlyTheLoadBeforeTheMeasurementMakesAMachineBusy() {
        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(Machine.note(0.1)).isEmpty();
        assertThat(Machine.note(0.5 * processors))
                .hasValueSatisfying(note -> assertThat(note).contains("the machine was busy in the minute before"));
        assertThat(Machine.describe("feed", Instant.EPOCH, 3.5)
                        .at("/machine/load")
                        .asDouble())
                .isEqualTo(3.5);
    }
}

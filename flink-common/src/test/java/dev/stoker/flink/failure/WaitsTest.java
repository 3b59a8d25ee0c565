package dev.stoker.flink.failure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WaitsTest {

    @Test
    void namesEachReasonOnceUntilAllWhoNotedItHaveClearedIt() {
        Object first = new Object();
        Object second = new Object();
        Waits.note(first, "the broker is away");
        Waits.note(second, "the store is away");
        assertThat(Waits.all()).containsExactly("the broker is away", "the store is away");
        Waits.note(second, "the broker is away");
        assertThat(Waits.all()).containsExactly("the broker is away");
        assertThat(Waits.remark()).isEqualTo(" (the broker is away)");
        Waits.clear(first);
        assertThat(Waits.all()).containsExactly("the broker is away");
        Waits.clear(second);
        assertThat(Waits.all()).isEmpty();
        assertThat(Waits.remark()).isEmpty();
    }
}

package dev.stoker.flink.failure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutagesTest {

    @Test
    void namesEachReasonOnceUntilAllWhoNotedItHaveClearedIt() {
        Object first = new Object();
        Object second = new Object();
        Outages.note(first, "the broker is away");
        Outages.note(second, "the store is away");
        assertThat(Outages.all()).containsExactly("the broker is away", "the store is away");
        Outages.note(second, "the broker is away");
        assertThat(Outages.all()).containsExactly("the broker is away");
        assertThat(Outages.remark()).isEqualTo(" (the broker is away)");
        Outages.clear(first);
        assertThat(Outages.all()).containsExactly("the broker is away");
        Outages.clear(second);
        assertThat(Outages.all()).isEmpty();
        assertThat(Outages.remark()).isEmpty();
    }
}

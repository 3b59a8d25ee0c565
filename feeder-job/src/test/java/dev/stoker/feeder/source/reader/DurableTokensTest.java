package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DurableTokensTest {

    @Test
    void callsReceiptsDurableOneCheckpointLater() {
        DurableTokens tokens = new DurableTokens();
        tokens.begin(1, 10);
        tokens.begin(2, 20);
        assertThat(tokens.complete(1, false)).isEmpty();
        assertThat(tokens.complete(2, false)).hasValue(10);
        tokens.begin(3, 30);
        assertThat(tokens.complete(3, false)).hasValue(20);
    }

    @Test
    void callsEverythingDurableAtTheEnd() {
        DurableTokens tokens = new DurableTokens();
        tokens.begin(1, 10);
        assertThat(tokens.complete(1, true)).hasValue(10);
    }

    @Test
    void passesOverAbortedAndUnknownCheckpoints() {
        DurableTokens tokens = new DurableTokens();
        assertThat(tokens.complete(7, false)).isEmpty();
        tokens.begin(8, 80);
        tokens.abort(8);
        tokens.begin(9, 90);
        assertThat(tokens.complete(9, false)).isEmpty();
        tokens.begin(10, 100);
        assertThat(tokens.complete(10, false)).hasValue(90);
    }
}

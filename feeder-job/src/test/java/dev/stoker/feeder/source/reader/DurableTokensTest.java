package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DurableTokensTest {

    @Test
    void callsReceiptsDurableThatAreInTheLedger() {
        DurableTokens tokens = new DurableTokens();
        tokens.begin(1, 10);
        assertThat(tokens.complete(1, 1)).hasValue(10);
        tokens.begin(2, 20);
        tokens.begin(3, 30);
        assertThat(tokens.complete(3, 3)).hasValue(30);
    }

    @Test
    void doesNotCallReceiptsDurableThatACheckpointOnlyPromises() {
        DurableTokens tokens = new DurableTokens();
        tokens.begin(1, 10);
        assertThat(tokens.complete(1, 0)).isEmpty();
        tokens.begin(2, 20);
        assertThat(tokens.complete(2, 1)).hasValue(10);
        tokens.begin(3, 30);
        assertThat(tokens.complete(3, 1)).isEmpty();
        assertThat(tokens.complete(4, 9)).hasValue(30);
    }

    @Test
    void doesNotCallReceiptsDurableWhoseCheckpointIsNotComplete() {
        DurableTokens tokens = new DurableTokens();
        tokens.begin(1, 10);
        tokens.begin(2, 20);
        assertThat(tokens.complete(1, 2)).hasValue(10);
    }

    @Test
    void passesOverAbortedAndUnknownCheckpoints() {
        DurableTokens tokens = new DurableTokens();
        assertThat(tokens.complete(7, 7)).isEmpty();
        tokens.begin(8, 80);
        tokens.abort(8);
        assertThat(tokens.complete(9, 9)).isEmpty();
        tokens.begin(10, 100);
        assertThat(tokens.complete(10, 10)).hasValue(100);
    }
}

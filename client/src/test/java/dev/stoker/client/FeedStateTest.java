package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.StateMismatchException;
import org.junit.jupiter.api.Test;

class FeedStateTest {
    private static String state(String more) {
        return "{\"stoker\":1," + more + "\"epoch\":3,\"batch\":7,\"version\":2}";
    }

    @Test
    void namesAFeatureThatItDoesNotKnowAndIgnoresOtherKeys() {
        assertThat(FeedState.place(state("\"later\":{},")).epoch()).isEqualTo(3);
        assertThatThrownBy(() -> FeedState.place(state("\"requires\":[\"leap\"],")))
                .isInstanceOf(StateMismatchException.class)
                .hasMessage("the state needs the feature 'leap', which this release does not know; a newer Stoker"
                        + " wrote it; update Stoker to read it");
        assertThatThrownBy(() -> FeedState.place(state("\"requires\":[\"b\",\"a\"],")))
                .isInstanceOf(StateMismatchException.class)
                .hasMessage("not a state of a feed: requires is [\"b\",\"a\"]; expected a sorted list of different"
                        + " feature names");
    }
}

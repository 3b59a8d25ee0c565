package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OrderSpecTest {
    private static final String DEFAULTS = "{\"function\":1,\"seed\":0,\"batch_size\":64,\"lanes\":16,"
            + "\"shuffle_window\":1073741824,\"shuffle\":\"window\",\"lane_order\":\"mixed\"}";

    @Test
    void writesAndReadsTheCanonicalText() {
        assertThat(OrderSpec.defaults().toJson()).isEqualTo(DEFAULTS);
        assertThat(OrderSpec.fromJson(DEFAULTS)).isEqualTo(OrderSpec.defaults());
        OrderSpec other = new OrderSpec(Long.MAX_VALUE, 65_535, 65_535, 0, ShufflePolicy.NONE, LaneOrder.FIXED);
        assertThat(OrderSpec.fromJson(other.toJson())).isEqualTo(other);
    }

    @Test
    void readsKeysInAnyOrder() {
        assertThat(OrderSpec.fromJson("{\"lane_order\":\"fixed\",\"shuffle\":\"none\",\"shuffle_window\":5,\"lanes\":2,"
                        + "\"batch_size\":3,\"seed\":4,\"function\":1}"))
                .isEqualTo(new OrderSpec(4, 3, 2, 5, ShufflePolicy.NONE, LaneOrder.FIXED));
    }

    @Test
    void reportsAllProblemsTogether() {
        assertThatThrownBy(() -> new OrderSpec(-1, 0, 65_536, -2, ShufflePolicy.WINDOW, LaneOrder.MIXED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("order spec: seed is -1: expected a whole number from 0 to 2^63-1; "
                        + "batch_size is 0: expected a whole number from 1 to 65535; "
                        + "lanes is 65536: expected a whole number from 1 to 65535; "
                        + "shuffle_window is -2: expected a whole number of bytes from 0 to 2^63-1");
        assertThatThrownBy(() -> OrderSpec.fromJson("{\"function\":3,\"seed\":-1,\"batch_size\":\"64\",\"lanes\":1.5,"
                        + "\"shuffle\":\"full\",\"weights\":[1],\"sede\":1}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("function is 3: this version knows 1 to 2")
                .hasMessageContaining("seed is -1")
                .hasMessageContaining("batch_size is \"64\"")
                .hasMessageContaining("lanes is 1.5")
                .hasMessageContaining("shuffle is \"full\": expected window or none")
                .hasMessageContaining("weights is reserved")
                .hasMessageContaining("sede is not a key");
        assertThatThrownBy(() -> OrderSpec.fromJson("{\"seed\":1}"))
                .hasMessageContaining("function is missing; batch_size is missing");
    }

    @Test
    void replacesOnlyTheNumberOfLanes() {
        OrderSpec spec = new OrderSpec(4, 3, 2, 5, ShufflePolicy.NONE, LaneOrder.FIXED);
        assertThat(spec.withLanes(7)).isEqualTo(new OrderSpec(4, 3, 7, 5, ShufflePolicy.NONE, LaneOrder.FIXED));
        assertThatThrownBy(() -> spec.withLanes(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lanes is 0");
    }

    @Test
    void refusesWhatIsNoObject() {
        assertThatThrownBy(() -> OrderSpec.fromJson("[1]")).hasMessageContaining("expected a JSON object");
        assertThatThrownBy(() -> OrderSpec.fromJson("{")).hasMessageContaining("not JSON");
        assertThatThrownBy(() -> OrderSpec.fromJson(DEFAULTS + "x")).hasMessageContaining("not JSON");
        assertThatThrownBy(() -> OrderSpec.fromJson("{\"seed\":1,\"seed\":2}")).hasMessageContaining("not JSON");
        assertThatThrownBy(() -> OrderSpec.fromJson(DEFAULTS.replace("64", "18446744073709551680")))
                .hasMessageContaining("batch_size is 18446744073709551680");
    }

    @Test
    void overlayReplacesGivenKeysOnly() {
        OrderOverlay overlay = OrderOverlay.fromJson("{\"shuffle\":\"none\",\"batch_size\":8}");
        assertThat(overlay.over(OrderSpec.defaults()))
                .isEqualTo(new OrderSpec(0, 8, 16, 1L << 30, ShufflePolicy.NONE, LaneOrder.MIXED));
        assertThat(overlay.toJson()).isEqualTo("{\"batch_size\":8,\"shuffle\":\"none\"}");
        assertThat(OrderOverlay.NONE.over(OrderSpec.defaults())).isEqualTo(OrderSpec.defaults());
        assertThat(OrderOverlay.fromJson("{}")).isEqualTo(OrderOverlay.NONE);
        assertThat(OrderOverlay.of(OrderSpec.defaults()).toJson()).isEqualTo(DEFAULTS);
    }

    @Test
    void overlayNamesWhatDiffersAndBothValues() {
        OrderOverlay overlay = OrderOverlay.fromJson("{\"seed\":5,\"batch_size\":64,\"lane_order\":\"fixed\"}");
        assertThat(overlay.differences(OrderSpec.defaults()))
                .containsExactly(
                        new OrderOverlay.Difference("seed", "5", "0"),
                        new OrderOverlay.Difference("lane_order", "fixed", "mixed"));
        assertThat(overlay.differences(OrderSpec.defaults()).get(0)).hasToString("seed is 0 here, asked for 5");
        assertThat(overlay.differences(overlay.over(OrderSpec.defaults()))).isEmpty();
    }
}

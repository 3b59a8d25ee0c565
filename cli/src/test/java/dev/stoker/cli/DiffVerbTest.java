package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DiffVerbTest extends DatasetVerbs {

    @BeforeEach
    void create() throws IOException {
        dataset.append(4, 100, 6);
    }

    @Test
    void printsCountsAndKeys() throws IOException {
        String key = dataset.samples(0).get(2).key();
        assertThat(stoker("delete", path(), key, "--yes")).isZero();

        assertThat(stoker("diff", path(), "1")).isZero();
        assertThat(out.toString()).contains("SPLIT", "label=class-").doesNotContain(key);
        assertThat(stoker("diff", path(), "1", "3", "--keys")).isZero();
        assertThat(out.toString())
                .contains(
                        "- train " + key, "+ train " + dataset.samples(2).get(5).key());
        assertThat(stoker("diff", path(), "1", "3", "--keys", "--json")).isZero();
        assertThat(json().at("/splits/0/added").asInt()).isEqualTo(6);
        assertThat(json().at("/splits/0/removed").asInt()).isEqualTo(1);
        assertThat(json().path("samples")).hasSize(7);
        assertThat(json().path("to").asInt()).isEqualTo(3);
    }

    @Test
    void comparesTagsAndFindsNoDifferenceInACompaction() {
        assertThat(stoker("tag", path(), "before")).isZero();
        assertThat(stoker("compact", path())).isZero();

        assertThat(stoker("diff", path(), "before")).isZero();
        assertThat(out.toString()).contains("versions 2 and 3 have the same samples");
        assertThat(stoker("diff", path(), "nosuch")).isEqualTo(1);
        assertThat(stoker("diff", path(), "9")).isEqualTo(1);
        assertThat(stoker("diff", path())).isEqualTo(2);
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiffVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
        dataset.append(4, 100, 6);
    }

    private int stoker(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        return Stoker.run(List.of(args), new PrintWriter(out, true), new PrintWriter(err, true));
    }

    private String path() {
        return dataset.path().toString();
    }

    private JsonNode json() throws IOException {
        return Json.MAPPER.readTree(out.toString());
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

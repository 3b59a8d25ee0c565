package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.json.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ColumnsTest {

    private record Result(String key, long version, long samples, long bytes, Optional<Integer> rank) {}

    private static final Columns<Result> COLUMNS = new Columns<Result>()
            .text("KEY", "key", Result::key)
            .number("VERSION", "version", Result::version)
            .count("SAMPLES", "samples", Result::samples)
            .bytes("BYTES", "bytes", Result::bytes)
            .optional("RANK", "rank", Result::rank, rank -> "rank " + rank)
            .cell("NOTE", result -> "of " + result.version())
            .key("none", result -> null)
            .key("is_first", result -> result.version() == 1)
            .key("properties", result -> Map.of("seed", "7"));

    private static final List<Result> RESULTS =
            List.of(new Result("a", 1, 1234, 2048, Optional.of(3)), new Result("b\n", 12345, 2, 100, Optional.empty()));

    private final StringWriter out = new StringWriter();

    @Test
    void tableHasTheTextOfValues() {
        COLUMNS.print(RESULTS, new PrintWriter(out, true));
        assertThat(out.toString().lines()).containsExactly("""
                KEY    VERSION  SAMPLES  BYTES    RANK    NOTE
                a      1        1,234    2.05 kB  rank 3  of 1
                "b\\n"  12345    2        100 B            of 12345""".split("\n"));
    }

    @Test
    void objectsHaveTheValues() {
        assertThat(COLUMNS.add(Json.array(), RESULTS)).hasToString("""
                [{"key":"a","version":1,"samples":1234,"bytes":2048,"rank":3,"none":null,"is_first":true,\
                "properties":{"seed":"7"}},{"key":"b\\n","version":12345,"samples":2,"bytes":100,"none":null,\
                "is_first":false,"properties":{"seed":"7"}}]""");
    }

    @Test
    void printerPrintsJsonAtOnce() {
        ResultPrinter<Result> printer = new ResultPrinter<>(COLUMNS, true, new PrintWriter(out, true));
        printer.add(RESULTS.get(0));
        assertThat(out.toString()).startsWith("{\"key\":\"a\"").endsWith("}\n");
        int length = out.toString().length();
        printer.end();
        assertThat(out.toString()).hasSize(length);
    }

    @Test
    void printerPrintsTheTableAtTheEnd() {
        ResultPrinter<Result> printer = new ResultPrinter<>(COLUMNS, false, new PrintWriter(out, true));
        printer.add(RESULTS.get(0));
        assertThat(out.toString()).isEmpty();
        printer.end();
        assertThat(out.toString().lines()).hasSize(2);
    }
}

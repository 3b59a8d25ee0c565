package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.Literal;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFilter;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowPredicate;
import dev.stoker.formats.RowPredicate.Operator;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.StatisticsFile;
import dev.stoker.schemas.io.BufferRangeReader;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ParquetStatisticsTest {
    private static final int ROWS = 1000;
    private StatisticsFile file;

    @BeforeEach
    void write() throws Exception {
        String schema = "message m { required int32 i; optional binary t (STRING); optional double d;"
                + " required int64 at (TIMESTAMP(MICROS,true)); required int32 u (INTEGER(32,false));"
                + " optional binary p (DECIMAL(9,2)); optional int32 n; }";
        byte[] bytes = MemoryOutput.write(schema, builder -> builder.withRowGroupRowCountLimit(100), (factory, out) -> {
            for (int i = 0; i < ROWS; i++) {
                Group row = factory.newGroup().append("i", i);
                if (i % 7 > 0) {
                    row.append("t", String.format("t%04d", i));
                }
                row.append("d", i % 100 == 5 ? Double.NaN : i / 10.0);
                row.append("at", 1_700_000_000_000_000L + i * 1_000_000L);
                row.append("u", i - 500);
                row.append(
                        "p",
                        Binary.fromConstantByteArray(new BigDecimal(i - 500)
                                .setScale(2)
                                .unscaledValue()
                                .toByteArray()));
                if (i < 200) {
                    row.append("n", i);
                }
                out.add(row);
            }
        });
        file = (StatisticsFile) new ParquetFormat()
                .open(new BufferRangeReader("statistics", ByteBuffer.wrap(bytes)), ReadLimits.DEFAULT);
    }

    private RowPredicate is(String column, Operator operator, String literal) {
        RowColumn found = file.schema().columns().stream()
                .filter(c -> c.name().equals(column))
                .findFirst()
                .orElseThrow();
        return new RowPredicate.Comparison(column, operator, Literal.of(found.type(), literal));
    }

    private List<Integer> parts(RowPredicate predicate) throws Exception {
        List<Integer> parts = new ArrayList<>();
        for (RowPart part : file.parts()) {
            if (file.mayMatch(part, predicate)) {
                parts.add(part.number());
            }
        }
        return parts;
    }

    private List<Long> rows(RowPredicate predicate) throws Exception {
        List<Long> rows = new ArrayList<>();
        int[] all = IntStream.range(0, file.schema().columns().size()).toArray();
        RowFilter filter = new RowFilter(predicate, file.schema().columns());
        for (RowPart part : file.parts()) {
            try (RowReader reader = file.read(part, all)) {
                while (reader.next()) {
                    if (filter.matches(reader)) {
                        rows.add(reader.position());
                    }
                }
            }
        }
        return rows;
    }

    @Test
    void skipsRowGroupsThatCannotMatch() throws Exception {
        assertThat(parts(is("i", Operator.EQUAL, "150"))).containsExactly(1);
        assertThat(parts(is("i", Operator.LESS, "200"))).containsExactly(0, 1);
        assertThat(parts(is("i", Operator.GREATER, "850.5"))).containsExactly(8, 9);
        assertThat(parts(is("t", Operator.EQUAL, "t0345"))).containsExactly(3);
        assertThat(parts(is("at", Operator.GREATER_OR_EQUAL, "2023-11-14T22:28:20Z")))
                .containsExactly(9);
        assertThat(parts(is("u", Operator.GREATER, "4294967290"))).containsExactly(4);
        assertThat(parts(is("p", Operator.LESS, "-450"))).containsExactly(0);
        assertThat(parts(is("n", Operator.NOT_EQUAL, "5"))).containsExactly(0, 1);
        assertThat(parts(new RowPredicate.Not(new RowPredicate.IsNull("n")))).containsExactly(0, 1);
        assertThat(parts(new RowPredicate.And(
                        List.of(is("i", Operator.LESS, "300"), new RowPredicate.Not(is("i", Operator.LESS, "200"))))))
                .containsExactly(2);
        assertThat(parts(new RowPredicate.Or(List.of(is("i", Operator.LESS, "100"), is("i", Operator.GREATER, "899")))))
                .containsExactly(0, 9);
    }

    @Test
    void findsTheSameRowsWithAndWithoutStatistics() throws Exception {
        long seed = Long.getLong("test.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int i = 0; i < 60; i++) {
            RowPredicate predicate = random(random, 3);
            List<Integer> parts = parts(predicate);
            assertThat(rows(predicate))
                    .as("-Dtest.seed=" + seed + " " + predicate)
                    .allMatch(row -> parts.contains((int) (row / 100)));
        }
    }

    private RowPredicate random(Random random, int depth) {
        if (depth == 0 || random.nextInt(3) == 0) {
            String[] columns = {"i", "t", "d", "at", "u", "p", "n"};
            String column = columns[random.nextInt(columns.length)];
            if (random.nextInt(6) == 0) {
                return new RowPredicate.IsNull(column);
            }
            int n = random.nextInt(ROWS);
            String literal = switch (column) {
                case "t" -> String.format("t%04d", n);
                case "at" -> Instant.ofEpochSecond(1_700_000_000L + n).toString();
                case "u" -> Integer.toUnsignedString(n - 500);
                case "p" -> Integer.toString(n - 500);
                case "d" -> Double.toString(n / 10.0);
                default -> Integer.toString(n);
            };
            return is(column, Operator.values()[random.nextInt(6)], literal);
        }
        return switch (random.nextInt(3)) {
            case 0 -> new RowPredicate.Not(random(random, depth - 1));
            case 1 -> new RowPredicate.And(List.of(random(random, depth - 1), random(random, depth - 1)));
            default -> new RowPredicate.Or(List.of(random(random, depth - 1), random(random, depth - 1)));
        };
    }

    @Test
    void comparesNullsAsUnknownAndNanAsDifferent() throws Exception {
        assertThat(rows(new RowPredicate.Not(is("t", Operator.EQUAL, "t0001"))))
                .doesNotContain(0L, 1L, 7L)
                .contains(2L);
        assertThat(rows(is("d", Operator.NOT_EQUAL, "0.1"))).contains(5L).doesNotContain(1L);
        assertThat(rows(is("d", Operator.GREATER, "99.8"))).containsExactly(999L);
        assertThat(rows(is("u", Operator.GREATER, "4294967294"))).containsExactly(499L);
        assertThat(rows(is("p", Operator.EQUAL, "-0.00"))).containsExactly(500L);
    }
}

package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.filter.RowFilter;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.formats.partition.CompletedFile;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.Literal;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.condition.RowPredicate.Operator;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class ParquetStatisticsTest {
    private static final int ROWS = 1000;
    private final AtomicLong bytesRead = new AtomicLong();
    private StatisticsFile file;

    /** Counts the bytes that are read. */
    private final class CountingReader implements RangeReader {
        private final RangeReader inner;

        CountingReader(RangeReader inner) {
            this.inner = inner;
        }

        @Override
        public void readFully(long offset, ByteBuffer dst) throws IOException {
            bytesRead.addAndGet(dst.remaining());
            inner.readFully(offset, dst);
        }

        @Override
        public long length() throws IOException {
            return inner.length();
        }

        @Override
        public String name() {
            return inner.name();
        }
    }

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
                .open(
                        new CountingReader(new BufferRangeReader("statistics", ByteBuffer.wrap(bytes))),
                        ReadLimits.DEFAULT);
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

    /** Reads no byte of the row groups that statistics, or the directory of the file, exclude. */
    @Test
    void rowGroupsThatCannotMatchAreNotRead() throws Exception {
        Map<String, RowColumn> columns = new LinkedHashMap<>();
        RowFile completed = CompletedFile.of(
                file, "statistics", List.of(GivenColumn.ofDirectory("year", ScalarType.INT64, "2026")));
        completed.schema().columns().forEach(column -> columns.put(column.name(), column));
        RowPredicate wanted = RowExpression.parse("i BETWEEN 310 AND 390 AND t IS NOT NULL AND year = 2026")
                .bind(RowColumn.types(columns));
        RowPredicate otherYear = RowExpression.parse("i = 310 AND year <> 2026").bind(RowColumn.types(columns));
        long before = bytesRead.get();
        for (RowPart part : completed.parts()) {
            assertThat(((StatisticsFile) completed).mayMatch(part, otherYear)).isFalse();
            assertThat(((StatisticsFile) completed).mayMatch(part, wanted)).isEqualTo(part.number() == 3);
        }
        assertThat(bytesRead.get()).isEqualTo(before);
        int[] all = IntStream.range(0, columns.size()).toArray();
        RowPart part = completed.parts().get(3);
        try (RowReader reader = completed.read(part, all)) {
            RowFilter filter = new RowFilter(wanted, completed.schema().columns());
            int found = 0;
            while (reader.next()) {
                found += filter.matches(reader) ? 1 : 0;
            }
            assertThat(found).isEqualTo(70);
        }
        assertThat(bytesRead.get() - before).isEqualTo(part.bytes());
    }

    @Test
    void findsTheSameRowsWithAndWithoutStatistics(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(40).run((random, round) -> {
            RowPredicate predicate = random(random, 3);
            List<Integer> parts = parts(predicate);
            assertThat(rows(predicate)).as(predicate.toString()).allMatch(row -> parts.contains((int) (row / 100)));
        });
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

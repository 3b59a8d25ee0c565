package dev.stoker.formats.filter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.testing.Rounds;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RowExpressionTest {
    private static final Map<String, RowColumn> COLUMNS = new LinkedHashMap<>();

    static {
        for (String column : List.of(
                "age:int8",
                "score:float64",
                "label:utf8",
                "good:bool",
                "day:date",
                "at:timestamp[us,UTC]",
                "price:decimal(9,2)",
                "box.x:int64",
                "date:date",
                "In:int64",
                "tokens:int32[]",
                "größe:int64")) {
            String[] parts = column.split(":", 2);
            COLUMNS.put(
                    parts[0], new RowColumn(parts[0], FieldType.parse(parts[1]), true, "test", RowColumn.Role.NONE));
        }
    }

    /** A row whose columns are null, apart from these. */
    private static RowReader row(Map<String, Object> values) {
        List<String> names = new ArrayList<>(COLUMNS.keySet());
        return new RowReader() {
            @Override
            public boolean next() {
                throw new UnsupportedOperationException();
            }

            @Override
            public long position() {
                return 0;
            }

            @Override
            public void get(int column, ValueSink sink) throws BadValueException {
                Object value = values.get(names.get(column));
                if (value == null) {
                    sink.setNull();
                } else if (value instanceof Long number) {
                    sink.setLong(number);
                } else if (value instanceof Double number) {
                    sink.setDouble(number);
                } else {
                    sink.setBytes(ByteBuffer.wrap(((String) value).getBytes(StandardCharsets.UTF_8)));
                }
            }

            @Override
            public void close() {}
        };
    }

    private static boolean matches(String expression, Map<String, Object> row) throws Exception {
        return new RowFilter(
                        RowExpression.parse(expression).bind(RowColumn.types(COLUMNS)), List.copyOf(COLUMNS.values()))
                .matches(row(row));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "age = 30",
                "AGE IS NULL OR age = 30",
                "30 <= age AND 31 > age",
                "age <> 29 and age != 31",
                "age > 29.5 and age < 3.05e1",
                "age in (1, 30) And Not age IN (2,3)",
                "age NOT IN (-1, +2)",
                "age BETWEEN 30 AND 30 AND score is not null",
                "NOT age NOT BETWEEN 1 AND 40",
                "label = 'o''Neil' AND \"label\" > 'n'",
                "good AND (NOT good = FALSE)",
                "day = '2026-01-31' AND day < DATE '2026-02-01'",
                "\"In\" = 5 AND box.x = 7 AND größe = 1",
                "date IS NULL AND at IS NULL",
                "age = 1 OR age = 2 AND age = 3 OR age = 30",
                "tokens IS NULL"
            })
    void isTrueForTheRow(String expression) throws Exception {
        Map<String, Object> row = Map.of(
                "age",
                30L,
                "score",
                1.5,
                "label",
                "o'Neil",
                "good",
                1L,
                "In",
                5L,
                "box.x",
                7L,
                "größe",
                1L,
                "day",
                LocalDate.of(2026, 1, 31).toEpochDay());
        assertThat(matches(expression.replace("AGE", "age"), row)).isTrue();
    }

    /** As in SQL: a comparison with a missing value is neither true nor false. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "age = 1",
                "age != 1",
                "NOT age = 1",
                "age IN (1, 2)",
                "age NOT IN (1, 2)",
                "NOT (age > 1 AND score > 0)",
                "age > 1 OR NOT age > 1",
                "age IS NOT NULL",
                "NOT good"
            })
    void isNotTrueForARowWithNulls(String expression) throws Exception {
        assertThat(matches(expression, Map.of("score", 1.5))).isFalse();
    }

    @Test
    void nullsDoNotDecideWhereAnotherPartDoes() throws Exception {
        assertThat(matches("age = 1 OR score > 0", Map.of("score", 1.5))).isTrue();
        assertThat(matches("NOT (age = 1 AND score > 2)", Map.of("score", 1.5))).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``|expected a column or a value, at character 1, the end",
                "age >|expected a value, at character 6, the end",
                "age == 3|SQL compares with a single =, at character 5: == 3",
                "age = NULL|a comparison with NULL is never true; use IS NULL",
                "label = \"cat\"|cat is the name of a column, and only values can be here; write text as 'cat'",
                "label = 'cat|there is no closing '",
                "age = 3 label = 'x'|expected AND, OR or the end, at character 9: label = 'x'",
                "(age = 3|expected ), at character 9, the end",
                "age IN ()|expected a value, at character 9",
                "label LIKE 'c%'|LIKE is not supported",
                "age NOT = 3|expected IN or BETWEEN after NOT",
                "age & 3|the character & has no meaning here",
                "3x = 3|a name that begins with a digit needs double quotes",
                "TRUE|expected one of = != <> < <= > >=",
                "age IS 3|expected NULL",
                "\"\" = 3|there is no closing \", or nothing inside the quotes"
            })
    void namesTheMistakeAndItsPlace(String expression, String message) {
        assertThatThrownBy(() -> RowExpression.parse(expression))
                .isInstanceOf(InvalidExpressionException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Age = 3|there is no column Age; there is age, and names must have the same case",
                "other = 3|there is no column other",
                "age = 'x'|the column age of type int8 cannot be compared with 'x', which is text; give a number",
                "label > 3|the column label of type utf8 cannot be compared with 3, which is a number; give text",
                "good = 1|the column good of type bool cannot be compared with 1, which is a number; give TRUE or",
                "age|the column age of type int8 is no condition alone",
                "tokens = 3|the column tokens of type int32[] cannot be compared; only IS NULL",
                "day = 'x'|the column day of type date cannot be compared: 'x' is no value of type date",
                "at > DATE '2026-13-01'|'2026-13-01' is no value of type timestamp[us,UTC]"
            })
    void namesTheColumnAndItsType(String expression, String message) {
        RowExpression parsed = RowExpression.parse(expression);
        assertThatThrownBy(() -> parsed.bind(RowColumn.types(COLUMNS)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void namesEachColumnOnce() {
        assertThat(RowExpression.parse("NOT (b IS NULL OR a = 1) AND 2 < b AND \"c d\" IN ('x')")
                        .columns())
                .containsExactly("b", "a", "c d");
    }

    @Test
    void hostileExpressionsEndInAnError(TestInfo test) {
        assertThatThrownBy(() -> RowExpression.parse("(".repeat(100_000))).hasMessageContaining("deeper than 200");
        assertThatThrownBy(() -> RowExpression.parse("NOT ".repeat(100_000))).hasMessageContaining("deeper than 200");
        assertThat(RowExpression.parse("a = '" + "''".repeat(100_000) + "'").columns())
                .containsExactly("a");
        String[] words = {"a", "(", ")", "NOT", "AND", "OR", "=", "<", "1", "'x'", "IN", ",", "IS", "NULL", "DATE", "-"
        };
        Rounds.of(test).seconds(0.2).atLeast(1_000).run((random, round) -> {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(12); n >= 0; n--) {
                text.append(words[random.nextInt(words.length)]).append(' ');
            }
            try {
                RowExpression.parse(text.toString());
            } catch (InvalidExpressionException e) {
                assertThat(e).as(text.toString()).hasMessageContaining("at character");
            }
        });
    }
}

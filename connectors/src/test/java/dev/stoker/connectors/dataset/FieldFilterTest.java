package dev.stoker.connectors.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.FieldFilter.Operator;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FieldFilterTest {

    /** A sample with one value. */
    private record OneValue(@Nullable Object value) implements Sample {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public long chunk() {
            return 0;
        }

        @Override
        public int row() {
            return 0;
        }

        @Override
        public String split() {
            return "train";
        }

        @Override
        public FieldType type(int column) {
            return ScalarType.INT64;
        }

        @Override
        public boolean isNull(int column) {
            return value == null;
        }

        @Override
        public long longAt(int column) {
            return (Long) value;
        }

        @Override
        public double doubleAt(int column) {
            return (Double) value;
        }

        @Override
        public BigDecimal decimalAt(int column) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String stringAt(int column) {
            return (String) value;
        }

        @Override
        public ByteBuffer bytesAt(int column) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int itemCount(int column) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isNullItem(int column, int item) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBuffer itemAt(int column, int item) {
            throw new UnsupportedOperationException();
        }
    }

    /** Returns the operators with one constant that match a value. */
    private static List<Operator> matching(@Nullable Object value, Object constant) {
        List<Operator> matching = new ArrayList<>();
        for (Operator operator : Operator.values()) {
            boolean isText = constant instanceof String && operator.name().matches("LESS.*|GREATER.*");
            if (!operator.name().startsWith("IS_") && !isText) {
                if (new FieldFilter("n", operator, List.of(constant)).matches(new OneValue(value), 0)) {
                    matching.add(operator);
                }
            }
        }
        return matching;
    }

    @Test
    void comparesNumbersAndTexts() {
        assertThat(matching(3L, 4L)).containsExactly(Operator.NOT_EQUAL, Operator.LESS, Operator.LESS_OR_EQUAL);
        assertThat(matching(4L, 4L))
                .containsExactly(Operator.EQUAL, Operator.LESS_OR_EQUAL, Operator.GREATER_OR_EQUAL, Operator.IN);
        assertThat(matching(-0.5, -1.0))
                .containsExactly(Operator.NOT_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL);
        assertThat(matching("cat", "cat")).containsExactly(Operator.EQUAL, Operator.IN);
        assertThat(matching("cat", "dog")).containsExactly(Operator.NOT_EQUAL);
    }

    @Test
    void comparesSpecialNumbersAsSqlDoes() {
        assertThat(matching(-0.0, 0.0))
                .containsExactly(Operator.EQUAL, Operator.LESS_OR_EQUAL, Operator.GREATER_OR_EQUAL, Operator.IN);
        assertThat(matching(Double.NaN, 0.0)).containsExactly(Operator.NOT_EQUAL);
        assertThat(matching(Double.NaN, Double.NaN)).containsExactly(Operator.NOT_EQUAL);
    }

    @Test
    void nullMatchesOnlyTheCheckForNull() {
        assertThat(matching(null, 4L)).isEmpty();
        assertThat(matching(null, "cat")).isEmpty();
        FieldFilter isNull = new FieldFilter("n", Operator.IS_NULL, List.of());
        FieldFilter isNotNull = new FieldFilter("n", Operator.IS_NOT_NULL, List.of());
        assertThat(isNull.matches(new OneValue(null), 0)).isTrue();
        assertThat(isNotNull.matches(new OneValue(null), 0)).isFalse();
        assertThat(isNull.matches(new OneValue(1L), 0)).isFalse();
        assertThat(isNotNull.matches(new OneValue(1L), 0)).isTrue();
    }

    @Test
    void refusesConstantsThatItCannotCompare() {
        assertThatThrownBy(() -> new FieldFilter("n", Operator.LESS, List.of("cat")))
                .hasMessage("Filter of column 'n': texts are compared for equality only, not LESS");
        assertThatThrownBy(() -> new FieldFilter("n", Operator.EQUAL, List.of()))
                .hasMessage("Filter of column 'n': EQUAL with 0 constants");
        assertThatThrownBy(() -> new FieldFilter("n", Operator.EQUAL, List.of(1)))
                .hasMessageContaining("a constant is a class java.lang.Integer");
    }
}

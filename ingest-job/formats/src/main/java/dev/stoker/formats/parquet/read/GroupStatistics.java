package dev.stoker.formats.parquet.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.filter.LiteralComparison;
import dev.stoker.formats.filter.LiteralComparison.Result;
import dev.stoker.formats.parquet.column.ParquetColumn;
import dev.stoker.formats.parquet.page.ValueBatch;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.condition.RowPredicate.Operator;
import java.util.List;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.io.api.Binary;
import org.jspecify.annotations.Nullable;

/** Decides by the statistics of a row group whether a predicate can be true for one of its rows. */
final class GroupStatistics {
    private final List<ParquetColumn> columns;
    private final RowGroup group;
    private final @Nullable String createdBy;

    GroupStatistics(List<ParquetColumn> columns, RowGroup group, @Nullable String createdBy) {
        this.columns = columns;
        this.group = group;
        this.createdBy = createdBy;
    }

    boolean mayMatch(RowPredicate predicate) {
        return group.getNum_rows() > 0 && outcomes(predicate).canBeTrue();
    }

    /** Which results a predicate can have, apart from unknown. */
    private record Outcomes(boolean canBeTrue, boolean canBeFalse) {
        static final Outcomes ANY = new Outcomes(true, true);
        static final Outcomes NONE = new Outcomes(false, false);
    }

    private Outcomes outcomes(RowPredicate predicate) {
        if (predicate instanceof RowPredicate.Comparison comparison) {
            return comparison(comparison);
        }
        if (predicate instanceof RowPredicate.IsNull isNull) {
            return isNull(isNull);
        }
        if (predicate instanceof RowPredicate.Not not) {
            Outcomes inner = outcomes(not.predicate());
            return new Outcomes(/* canBeTrue= */ inner.canBeFalse(), /* canBeFalse= */ inner.canBeTrue());
        }
        if (predicate instanceof RowPredicate.And and) {
            List<Outcomes> all = and.all().stream().map(this::outcomes).toList();
            return new Outcomes(
                    all.stream().allMatch(Outcomes::canBeTrue), all.stream().anyMatch(Outcomes::canBeFalse));
        }
        List<Outcomes> any =
                ((RowPredicate.Or) predicate).any().stream().map(this::outcomes).toList();
        return new Outcomes(
                any.stream().anyMatch(Outcomes::canBeTrue), any.stream().allMatch(Outcomes::canBeFalse));
    }

    private Outcomes isNull(RowPredicate.IsNull predicate) {
        ParquetColumn column = column(predicate.column());
        Statistics<?> statistics = column == null ? null : statistics(column);
        if (statistics == null || !statistics.isNumNullsSet()) {
            return Outcomes.ANY;
        }
        return new Outcomes(statistics.getNumNulls() > 0, statistics.getNumNulls() < group.getNum_rows());
    }

    private Outcomes comparison(RowPredicate.Comparison predicate) {
        ParquetColumn column = column(predicate.column());
        Statistics<?> statistics = column == null ? null : statistics(column);
        if (column == null || statistics == null) {
            return Outcomes.ANY;
        }
        if (statistics.isNumNullsSet() && statistics.getNumNulls() == group.getNum_rows()) {
            return Outcomes.NONE;
        }
        if (!statistics.hasNonNullValue()) {
            return Outcomes.ANY;
        }
        LiteralComparison comparison = new LiteralComparison(predicate.literal());
        Result min = compare(column, statistics.genericGetMin(), comparison);
        Result max = compare(column, statistics.genericGetMax(), comparison);
        if (min == null || max == null || min == Result.NAN || max == Result.NAN) {
            return Outcomes.ANY;
        }
        boolean mayHaveNan = column.column().type().canonical().contains("float");
        return range(predicate.operator(), sign(min), sign(max), mayHaveNan);
    }

    /**
     * @param min how the smallest value compares with the literal
     * @param max how the greatest value compares with the literal
     * @param mayHaveNan whether the range leaves out values that are not numbers
     */
    private static Outcomes range(Operator operator, int min, int max, boolean mayHaveNan) {
        boolean less = min < 0;
        boolean equal = min <= 0 && max >= 0;
        boolean greater = max > 0;
        boolean canBeTrue = (less && operator.accepts(-1))
                || (equal && operator.accepts(0))
                || (greater && operator.accepts(1))
                || (mayHaveNan && operator == Operator.NOT_EQUAL);
        boolean canBeFalse = (less && !operator.accepts(-1))
                || (equal && !operator.accepts(0))
                || (greater && !operator.accepts(1))
                || (mayHaveNan && operator != Operator.NOT_EQUAL);
        return new Outcomes(canBeTrue, canBeFalse);
    }

    private static int sign(Result result) {
        return result == Result.LESS ? -1 : result == Result.GREATER ? 1 : 0;
    }

    private @Nullable ParquetColumn column(String name) {
        ParquetColumn found = null;
        for (ParquetColumn column : columns) {
            if (column.column().name().equals(name)) {
                if (found != null) {
                    return null;
                }
                found = column;
            }
        }
        boolean plain = found != null
                && found.source().path().lists().length == 0
                && found.classes().isEmpty();
        return plain ? found : null;
    }

    private @Nullable Statistics<?> statistics(ParquetColumn column) {
        ColumnMetaData meta =
                group.getColumns().get(column.source().leaf().index()).getMeta_data();
        if (!meta.isSetStatistics()) {
            return null;
        }
        try {
            return new ParquetMetadataConverter()
                    .fromParquetStatistics(
                            createdBy,
                            meta.getStatistics(),
                            column.source().leaf().type());
        } catch (RuntimeException e) {
            // The values can be read without it.
            return null;
        }
    }

    private static @Nullable Result compare(ParquetColumn column, Object bound, LiteralComparison comparison) {
        ValueBatch batch = new ValueBatch(column.source().leaf().physical());
        if (bound instanceof Boolean value) {
            batch.longs[0] = value ? 1 : 0;
        } else if (bound instanceof Integer || bound instanceof Long) {
            batch.longs[0] = ((Number) bound).longValue();
        } else if (bound instanceof Float || bound instanceof Double) {
            batch.doubles[0] = ((Number) bound).doubleValue();
        } else if (bound instanceof Binary value) {
            batch.bytes = value.getBytes();
            batch.lengths[0] = batch.bytes.length;
            if (column.source().leaf().width() > 0 && column.source().leaf().width() != batch.bytes.length) {
                return null;
            }
        }
        try {
            column.scalar().make().give(batch, 0, comparison);
            return comparison.result();
        } catch (BadValueException | IllegalStateException e) {
            return null;
        }
    }
}

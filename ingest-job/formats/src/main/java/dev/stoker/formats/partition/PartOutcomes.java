package dev.stoker.formats.partition;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.filter.LiteralComparison;
import dev.stoker.formats.filter.StatisticsFile;
import dev.stoker.schemas.condition.RowPredicate;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the results that a predicate can have in a part: by the given columns, and by the statistics of the file. */
final class PartOutcomes {
    private final List<GivenColumn> given;
    private final @Nullable StatisticsFile file;
    private final RowPart part;

    /**
     * @param given columns with one value
     * @param file knows the other columns; null if nothing is known of them
     */
    PartOutcomes(List<GivenColumn> given, @Nullable StatisticsFile file, RowPart part) {
        this.given = given;
        this.file = file;
        this.part = part;
    }

    /** The results that a predicate can have, apart from unknown. */
    record Outcomes(boolean canBeTrue, boolean canBeFalse) {
        private static final Outcomes ANY = new Outcomes(true, true);
        private static final Outcomes NONE = new Outcomes(false, false);

        static Outcomes of(boolean value) {
            return new Outcomes(value, !value);
        }
    }

    Outcomes of(RowPredicate predicate) throws IOException {
        if (predicate instanceof RowPredicate.Not not) {
            Outcomes inner = of(not.predicate());
            return new Outcomes(/* canBeTrue= */ inner.canBeFalse(), /* canBeFalse= */ inner.canBeTrue());
        }
        if (predicate instanceof RowPredicate.And and) {
            boolean canBeTrue = true;
            boolean canBeFalse = false;
            for (RowPredicate one : and.all()) {
                Outcomes outcomes = of(one);
                canBeTrue &= outcomes.canBeTrue();
                canBeFalse |= outcomes.canBeFalse();
            }
            return new Outcomes(canBeTrue, canBeFalse);
        }
        if (predicate instanceof RowPredicate.Or or) {
            boolean canBeTrue = false;
            boolean canBeFalse = true;
            for (RowPredicate one : or.any()) {
                Outcomes outcomes = of(one);
                canBeTrue |= outcomes.canBeTrue();
                canBeFalse &= outcomes.canBeFalse();
            }
            return new Outcomes(canBeTrue, canBeFalse);
        }
        return leaf(predicate);
    }

    private Outcomes leaf(RowPredicate predicate) throws IOException {
        String name = predicate instanceof RowPredicate.Comparison comparison
                ? comparison.column()
                : ((RowPredicate.IsNull) predicate).column();
        for (GivenColumn column : given) {
            if (column.name().equals(name)) {
                return given(column, predicate);
            }
        }
        return file == null
                ? Outcomes.ANY
                : new Outcomes(file.mayMatch(part, predicate), file.mayMatch(part, new RowPredicate.Not(predicate)));
    }

    private static Outcomes given(GivenColumn column, RowPredicate predicate) {
        if (!(predicate instanceof RowPredicate.Comparison comparison)) {
            return Outcomes.of(column.text() == null);
        }
        LiteralComparison value = new LiteralComparison(comparison.literal());
        try {
            column.give(value);
        } catch (BadValueException e) {
            return Outcomes.ANY;
        }
        RowPredicate.Operator operator = comparison.operator();
        return switch (value.result()) {
            case NULL -> Outcomes.NONE;
            case NAN -> Outcomes.of(operator == RowPredicate.Operator.NOT_EQUAL);
            case LESS -> Outcomes.of(operator.accepts(-1));
            case EQUAL -> Outcomes.of(operator.accepts(0));
            case GREATER -> Outcomes.of(operator.accepts(1));
        };
    }
}

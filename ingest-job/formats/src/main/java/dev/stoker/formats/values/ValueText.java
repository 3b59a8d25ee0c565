package dev.stoker.formats.values;

import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.values.NumberBytes;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;

/** Writes single values as text that {@link TextValue} reads back: the inverse of it. */
public final class ValueText {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ISO_LOCAL_TIME;
    private static final DateTimeFormatter DATE_TIME = DateTimeFormatter.ISO_LOCAL_DATE_TIME;

    private ValueText() {}

    /**
     * Returns the text of a value that is not null, of a type with one value per row other than binary.
     *
     * @throws UnwritableValueException if it is a time beyond the calendar
     */
    public static String of(Cell cell) throws UnwritableValueException {
        ArrowColumn source = cell.source();
        FieldType type = cell.type();
        int row = cell.row();
        if (type instanceof DecimalType) {
            return source.decimalAt(row).toPlainString();
        }
        if (!(type instanceof ScalarType scalar) || scalar == ScalarType.DATE) {
            try {
                return moment(type, source.longAt(row));
            } catch (DateTimeException | ArithmeticException e) {
                throw beyondCalendar(cell, source.longAt(row));
            }
        }
        return switch (scalar) {
            case BOOL -> source.booleanAt(row) ? "true" : "false";
            case UTF8 -> source.stringAt(row);
            case CATEGORICAL -> cell.table().classAt(cell.rows(), cell.column(), row);
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> NumberBytes.text(scalar, source.doubleAt(row));
            default -> NumberBytes.text(scalar, source.longAt(row));
        };
    }

    static UnwritableValueException beyondCalendar(Cell cell, long value) {
        return cell.refused("no calendar reaches the time " + value, "export to parquet");
    }

    /**
     * Returns the text of a date, time or timestamp.
     *
     * @throws DateTimeException if no calendar reaches it
     * @throws ArithmeticException if no calendar reaches it
     */
    static String moment(FieldType type, long value) {
        if (type instanceof TimestampType timestamp) {
            return DATE_TIME.format(TimeText.dateTime(timestamp, value))
                    + (timestamp.zone().isPresent() ? "Z" : "");
        }
        if (type instanceof TimeType time) {
            return TIME.format(TimeText.timeOfDay(time, value));
        }
        return LocalDate.ofEpochDay(value).toString();
    }
}

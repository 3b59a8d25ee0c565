package dev.stoker.schemas.arrow.types;

/**
 * Describes times of day: Arrow {@code Time}, the units since midnight. An int32 per row for seconds and milliseconds,
 * an int64 for microseconds and nanoseconds.
 *
 * @param unit the unit of the values
 */
public record TimeType(TimeResolution unit) implements FieldType {
    @Override
    public String canonical() {
        return "time[" + unit.canonical() + "]";
    }

    @Override
    public Layout layout() {
        return Layout.FIXED;
    }

    @Override
    public int width() {
        return unit.compareTo(TimeResolution.MILLISECONDS) <= 0 ? 4 : 8;
    }

    @Override
    public String toString() {
        return canonical();
    }
}

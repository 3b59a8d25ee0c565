package dev.stoker.schemas.arrow.types;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Describes points in time: Arrow {@code Timestamp}, an int64 per row. With a zone, a value counts units since
 * 1970-01-01T00:00Z, and the zone says how to show it. Without a zone, a value is a local date and time, counted as if
 * it were in UTC.
 *
 * @param unit the unit of the values
 * @param zone empty, or an IANA name or an offset such as {@code +02:00}, of 1 to 64 characters
 */
public record TimestampType(TimeResolution unit, Optional<String> zone) implements FieldType {
    private static final int MAX_ZONE = 64;
    private static final Pattern ZONE =
            Pattern.compile("[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*|[+-]([01][0-9]|2[0-3]):[0-5][0-9]");

    public TimestampType {
        zone.ifPresent(TimestampType::checkZone);
    }

    /** Creates the type of local dates and times. */
    public static TimestampType local(TimeResolution unit) {
        return new TimestampType(unit, Optional.empty());
    }

    /** Creates the type of points in time that are shown in this zone. */
    public static TimestampType zoned(TimeResolution unit, String zone) {
        return new TimestampType(unit, Optional.of(zone));
    }

    private static void checkZone(String zone) {
        if (zone.length() > MAX_ZONE || !ZONE.matcher(zone).matches()) {
            throw new IllegalArgumentException("time zone '" + zone
                    + "' is not an IANA name such as Europe/Berlin or an offset such as +02:00, of 1 to 64 characters");
        }
    }

    @Override
    public String canonical() {
        return "timestamp[" + unit.canonical() + zone.map(name -> "," + name).orElse("") + "]";
    }

    @Override
    public Layout layout() {
        return Layout.FIXED;
    }

    @Override
    public int width() {
        return 8;
    }

    @Override
    public String toString() {
        return canonical();
    }
}

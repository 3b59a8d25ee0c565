package dev.stoker.schemas.arrow.types;

/** Lists the units of timestamps and times of day, in the order of Arrow's {@code TimeUnit}. */
public enum TimeResolution {
    SECONDS("s", 1),
    MILLISECONDS("ms", 1_000),
    MICROSECONDS("us", 1_000_000),
    NANOSECONDS("ns", 1_000_000_000);

    private final String canonical;
    private final long perSecond;

    TimeResolution(String canonical, long perSecond) {
        this.canonical = canonical;
        this.perSecond = perSecond;
    }

    /** Returns the unit's name in a type: {@code s}, {@code ms}, {@code us} or {@code ns}. */
    public String canonical() {
        return canonical;
    }

    /** Returns the number of units in a second. */
    public long perSecond() {
        return perSecond;
    }

    /** Returns the number of units in a day of 24 hours. */
    public long perDay() {
        return 86_400 * perSecond;
    }

    static TimeResolution named(String canonical) {
        for (TimeResolution unit : values()) {
            if (unit.canonical.equals(canonical)) {
                return unit;
            }
        }
        throw new IllegalArgumentException("unknown unit '" + canonical + "'; known are s, ms, us and ns");
    }
}

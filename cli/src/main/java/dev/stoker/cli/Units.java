package dev.stoker.cli;

import java.time.Duration;
import java.util.Locale;

/** Numbers as people read them. */
final class Units {

    private Units() {}

    /** Decimal units, as storage vendors and network people use them: 1.23 GB. */
    static String bytes(long bytes) {
        if (bytes < 1000) {
            return bytes + " B";
        }
        double value = bytes;
        String[] units = {"B", "kB", "MB", "GB", "TB", "PB"};
        int unit = 0;
        while (value >= 999.5 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return String.format(
                Locale.ROOT, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    }

    static String count(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
    }

    /** A time that may be long: 42 s, 3 min 05 s, 2 h 07 min. */
    static String time(Duration duration) {
        long s = Math.max(0, duration.toSeconds());
        if (s < 60) {
            return s + " s";
        }
        return s < 3600
                ? String.format(Locale.ROOT, "%d min %02d s", s / 60, s % 60)
                : String.format(Locale.ROOT, "%d h %02d min", s / 3600, s % 3600 / 60);
    }
}

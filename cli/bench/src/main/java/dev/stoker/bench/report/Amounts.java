package dev.stoker.bench.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Texts for numbers on the page. */
final class Amounts {

    private Amounts() {}

    /** A number with three digits and a separator: 1,786 or 21.7. */
    static String count(double value) {
        return String.format(Locale.ROOT, value >= 99.5 ? "%,.0f" : value >= 9.95 ? "%.1f" : "%.2f", value);
    }

    /** A number with three digits, without zeros at its end: 25 or 0.4. */
    static String plain(double value) {
        return new BigDecimal(value, new MathContext(3)).stripTrailingZeros().toPlainString();
    }

    /** Bits in a second, in decimal units: 25 Gbit/s, 1.77 Mbit/s. */
    static String bits(double bitsPerSecond) {
        String[] units = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
        double value = bitsPerSecond;
        int unit = 0;
        while (value >= 999.5 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return plain(value) + " " + units[unit];
    }

    static String percent(double share) {
        return share > 0 && share < 0.005 ? "less than 1 %" : String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }

    /** Powers of ten of bytes at an axis: 1 kB, 100 MB. */
    static String axisBytes(int power) {
        String[] units = {"B", "kB", "MB", "GB", "TB"};
        return (long) Math.pow(10, power % 3) + " " + units[power / 3];
    }

    /** Text without markup. */
    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}

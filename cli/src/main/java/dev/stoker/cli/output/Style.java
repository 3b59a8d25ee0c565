package dev.stoker.cli.output;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Colours and bars of a live table. Without colours, texts and bars are the same. Immutable. */
public enum Style {
    PLAIN,
    COLOURED;

    private static final Pattern ESCAPE = Pattern.compile("\033\\[[0-9;]*m");
    private static final String RESET = "\033[0m";
    private static final String PARTS = "▏▎▍▌▋▊▉";

    /** What a colour means. */
    public enum Tone {
        GOOD("32"),
        FAIR("33"),
        BAD("31"),
        TITLE("1"),
        SOFT("2");

        private final String code;

        Tone(String code) {
            this.code = code;
        }
    }

    /** Returns colours for a terminal, unless the environment has {@code NO_COLOR} (no-color.org). */
    public static Style ofTerminal() {
        String off = System.getenv("NO_COLOR");
        return off == null || off.isEmpty() ? COLOURED : PLAIN;
    }

    public String paint(Tone tone, String text) {
        return this == PLAIN || text.isEmpty() ? text : "\033[" + tone.code + "m" + text + RESET;
    }

    /** Returns a bar of some columns, filled for a share from 0 to 1 in steps of an eighth of a column. */
    public String bar(double share, int columns, Tone tone) {
        int eighths = (int) Math.min(8L * columns, Math.max(0, Math.round(share * 8 * columns)));
        String full = "█".repeat(eighths / 8) + (eighths % 8 == 0 ? "" : PARTS.charAt(eighths % 8 - 1));
        return paint(tone, full) + paint(Tone.SOFT, "░".repeat(columns - full.length()));
    }

    /** Returns a text in which only colours control the terminal. */
    public static String safe(String text) {
        StringBuilder safe = new StringBuilder();
        Matcher escapes = ESCAPE.matcher(text);
        int from = 0;
        while (escapes.find()) {
            safe.append(SafeOutput.escape(text.substring(from, escapes.start())))
                    .append(escapes.group());
            from = escapes.end();
        }
        return safe.append(SafeOutput.escape(text.substring(from))).toString();
    }

    /** Returns the number of columns that a text takes on a terminal. */
    public static int width(String text) {
        return ESCAPE.matcher(text).replaceAll("").length();
    }

    /** Returns the first columns of a text. Colours take no column, and end with it. */
    public static String cut(String text, int columns) {
        if (width(text) <= columns) {
            return text;
        }
        StringBuilder kept = new StringBuilder();
        int left = columns;
        int i = 0;
        while (left > 0) {
            if (text.charAt(i) == '\033') {
                int end = text.indexOf('m', i) + 1;
                kept.append(text, i, end);
                i = end;
            } else {
                kept.append(text.charAt(i++));
                left--;
            }
        }
        return kept.indexOf("\033") < 0 ? kept.toString() : kept.append(RESET).toString();
    }
}

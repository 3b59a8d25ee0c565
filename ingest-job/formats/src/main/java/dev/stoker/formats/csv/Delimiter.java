package dev.stoker.formats.csv;

/**
 * Finds the delimiter of a file: of comma, semicolon, tab and bar, the one that divides the first records into the same
 * number of fields, and into the most. Delimiters in quotes do not count. If none does, the one that the first record
 * has most often; if it has none, comma.
 */
final class Delimiter {
    private static final char[] KNOWN = {',', ';', '\t', '|'};
    private static final int MAX_RECORDS = 100;

    private Delimiter() {}

    /**
     * @param text the beginning of the file
     * @param complete whether it is the whole file, so that its last record is complete
     */
    static char find(String text, boolean complete) {
        char best = ',';
        int fields = 0;
        char bestOfFirst = ',';
        int inFirst = 0;
        for (char delimiter : KNOWN) {
            int[] counts = counts(text, delimiter, complete);
            if (counts[0] > inFirst) {
                inFirst = counts[0];
                bestOfFirst = delimiter;
            }
            if (counts[1] == 1 && counts[0] > fields) {
                fields = counts[0];
                best = delimiter;
            }
        }
        return fields > 0 ? best : bestOfFirst;
    }

    /** Returns how often a delimiter is in the first record, and 1 if it is that often in the others too. */
    private static int[] counts(String text, char delimiter, boolean complete) {
        int first = -1;
        int count = 0;
        int records = 0;
        boolean quoted = false;
        boolean empty = true;
        for (int i = 0; i <= text.length() && records < MAX_RECORDS; i++) {
            boolean atEnd = i == text.length();
            char c = atEnd ? '\n' : text.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == delimiter && !quoted) {
                count++;
            }
            if ((c == '\n' || c == '\r') && !quoted && !empty && (!atEnd || complete || first < 0)) {
                records++;
                if (first >= 0 && first != count) {
                    return new int[] {first, 0};
                }
                first = count;
                count = 0;
                empty = true;
            } else if (c != '\n' && c != '\r') {
                empty = false;
            }
        }
        return new int[] {Math.max(first, 0), first > 0 ? 1 : 0};
    }
}

package dev.stoker.ingest.pack;

import java.util.ArrayList;
import java.util.List;

/** One line of comma-separated values. A cell in double quotes may contain commas, and quotes that are doubled. */
final class CsvLine {

    private CsvLine() {}

    static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean isQuoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (isQuoted && c == '"' && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                cell.append('"');
                i++;
            } else if (c == '"' && (isQuoted || cell.isEmpty())) {
                isQuoted = !isQuoted;
            } else if (c == ',' && !isQuoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        cells.add(cell.toString());
        return cells;
    }
}

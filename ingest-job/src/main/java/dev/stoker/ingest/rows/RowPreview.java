package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.rows.read.LeftOut;
import dev.stoker.ingest.rows.read.RowMapping;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowScan;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.ingest.rows.read.SizeSink;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Shows the first rows of a source as samples, and estimates the size of the dataset. For one use. */
final class RowPreview {
    private static final int SHOWN_ROWS = 10;
    private static final int SAMPLED_ROWS = 1000;
    /** Rows that {@code --where} leaves out are read, too, so the number of parts is limited. */
    private static final int SAMPLED_PARTS = 8;

    private final RowWork work;
    private final List<Field> fields;
    private final Splits splits;
    private final SizeSink size = new SizeSink();
    private final ShownSink shown = new ShownSink();
    private final List<String> rows = new ArrayList<>();
    private long taken;
    private long bytes;

    RowPreview(RowWork work) {
        this.work = work;
        this.fields =
                work.mapping().fields().stream().map(RowMapping.Mapped::toField).toList();
        this.splits = new Splits(work.splitRule());
    }

    /**
     * Reads the first rows.
     *
     * @param pieces the parts of the source
     * @param total number of rows in them, if it is known
     */
    List<String> lines(List<RowRun.Piece> pieces, OptionalLong total) throws IOException {
        List<String> lines = new ArrayList<>();
        StringBuilder skipped = new StringBuilder();
        LeftOut leftOut = new LeftOut(FileTree.Errors.SKIP, new SkipCounts(), skipped::append);
        try (RowScan scan = new RowScan(work, leftOut)) {
            for (RowRun.Piece piece : pieces.subList(0, Math.min(SAMPLED_PARTS, pieces.size()))) {
                if (taken < SAMPLED_ROWS) {
                    scan.scan(new RowRun(0, new ArrayList<>(List.of(piece))), new First(scan));
                }
            }
            leftOut.flush();
            lines.add("size   " + estimate(total, scan.excluded()));
            lines.add("rows   the first " + rows.size() + ":");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while the first rows were read");
        }
        rows.forEach(row -> lines.add("  " + row));
        skipped.toString()
                .lines()
                .limit(SHOWN_ROWS)
                .forEach(line -> lines.add((work.errors() == FileTree.Errors.FAIL ? "ends the ingest: " : "left out: ")
                        + LeftOut.shown(line)));
        return lines;
    }

    private String estimate(OptionalLong total, long excluded) {
        if (taken == 0) {
            return "unknown: none of the first " + Units.plural(excluded, "row") + " is taken";
        }
        String share = excluded == 0
                ? ""
                : "; " + taken + " of the first " + Units.plural(taken + excluded, "row") + " satisfy --where";
        if (total.isEmpty()) {
            return "about " + Units.bytes(bytes / taken) + " for each row" + share;
        }
        double rowsTaken = total.getAsLong() * ((double) taken / (taken + excluded));
        return "about " + Units.bytes((long) (rowsTaken * bytes / taken)) + " in "
                + Units.plural(Math.round(rowsTaken), "row") + share;
    }

    /** Takes the first rows. */
    private final class First implements RowScan.Handler {
        private final RowScan scan;

        First(RowScan scan) {
            this.scan = scan;
        }

        @Override
        public boolean wantsMore() {
            return taken < SAMPLED_ROWS;
        }

        @Override
        public void row(byte[] key, String split) throws BadValueException, IOException {
            size.begin();
            long fixed = key.length;
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < fields.size(); i++) {
                Field field = fields.get(i);
                scan.value(i, size.of(field.type()));
                fixed += field.type().hasOffsets()
                        ? Integer.BYTES
                        : Math.max(1, field.type().width());
                if (rows.size() < SHOWN_ROWS) {
                    scan.value(i, shown.of(field.type()));
                    text.append(i == 0 ? "" : ", ")
                            .append(field.name())
                            .append('=')
                            .append(shown.text(field.type()));
                }
            }
            if (rows.size() < SHOWN_ROWS) {
                rows.add(new String(key, StandardCharsets.UTF_8) + " (" + (split.isEmpty() ? splits.of(key) : split)
                        + "): " + text);
            }
            bytes += fixed + size.bytes();
            taken++;
        }
    }
}

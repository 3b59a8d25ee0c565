package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.LeafReader;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A column that is in one list or two. The levels of a row are read once; subclasses keep the items until the next row.
 */
abstract class ListValue implements Value {
    final LeafReader reader;
    private final ColumnPath path;
    private final int inner;
    private long row = -1;
    private boolean isNull;
    private @Nullable BadValueException bad;

    ListValue(LeafReader reader, ColumnPath path) {
        this.reader = reader;
        this.path = path;
        this.inner = path.lists().length - 1;
    }

    /** Begins a row. */
    abstract void clear();

    /** Begins an inner list. Called only in lists of lists. */
    abstract void beginList() throws BadValueException;

    /** Adds the value at the reader's level. */
    abstract void add() throws IOException, BadValueException;

    /**
     * Adds an item that is null.
     *
     * @param missing the outermost node that is null
     */
    void addNull(ColumnPath.Node missing) throws BadValueException {
        throw ColumnPath.nullNode(missing);
    }

    /** Gives the items of the row. */
    abstract void giveItems(ValueSink sink) throws BadValueException;

    @Override
    public final void give(long wanted, ValueSink sink) throws IOException, BadValueException {
        while (row < wanted) {
            row++;
            read(row < wanted);
        }
        if (bad != null) {
            throw bad;
        }
        if (isNull) {
            sink.setNull();
        } else {
            giveItems(sink);
        }
    }

    @Override
    public final void end(long rows) throws IOException {
        if (row == rows - 1 && reader.hasLevel()) {
            throw reader.damaged("it has too many rows");
        }
    }

    /** Reads the levels of one row. */
    private void read(boolean skipped) throws IOException {
        clear();
        isNull = false;
        bad = null;
        if (!reader.hasLevel()) {
            throw reader.damaged("it has too few rows");
        }
        if (reader.repetition() != 0) {
            throw reader.damaged("its first row continues another one");
        }
        do {
            if (bad == null && !skipped) {
                try {
                    level();
                } catch (BadValueException e) {
                    bad = e;
                }
            }
            reader.advance();
        } while (reader.hasLevel() && reader.repetition() != 0);
    }

    private void level() throws IOException, BadValueException {
        int definition = reader.definition();
        int[] lists = path.lists();
        if (definition >= lists[0] && inner > 0 && reader.repetition() < 2) {
            beginList();
        }
        if (reader.hasValue()) {
            add();
            return;
        }
        for (int list : lists) {
            if (definition == list - 1) {
                return; // an empty list
            }
        }
        if (definition < lists[0]) {
            isNull = true;
        } else {
            addNull(path.missing(definition));
        }
    }
}

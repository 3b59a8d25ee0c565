package dev.stoker.metadata.index.run;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;

/** Iterates over the rows of a run. Throws {@link DamagedRunException} if the run is damaged. Not thread-safe. */
public final class RunCursor implements RowCursor {

    private final SampleRun run;
    private long next;
    private byte[] key = {};
    private IndexedRow row = new IndexedRow(0, 0, 0, 0);

    public RunCursor(SampleRun run) {
        this.run = run;
    }

    /** Makes {@link #next} continue with the first row from here on whose key is at least this one. */
    public void skipTo(byte[] least) throws IOException {
        try {
            next = run.ceiling(least, next);
        } catch (CorruptDataException | NoSuchObjectException e) {
            throw new DamagedRunException(run, e);
        }
    }

    @Override
    public boolean next() throws IOException {
        if (next >= run.rows()) {
            return false;
        }
        try {
            key = run.key(next);
            row = run.row(next);
        } catch (CorruptDataException | NoSuchObjectException e) {
            throw new DamagedRunException(run, e);
        }
        next++;
        return true;
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public IndexedRow row() {
        return row;
    }
}

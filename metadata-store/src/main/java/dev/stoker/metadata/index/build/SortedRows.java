package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.schemas.index.IndexedRow;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes sorted rows to temporary files, and reads them again. */
final class SortedRows {

    private static final int BUFFER_BYTES = 1 << 16;

    private SortedRows() {}

    /** Writes all rows of a cursor to a new file. */
    static void write(RowCursor rows, Path file) throws IOException {
        write(rows, new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES));
    }

    /** Writes all rows of a cursor, and closes the stream. */
    static void write(RowCursor rows, OutputStream stream) throws IOException {
        try (DataOutputStream out = new DataOutputStream(stream)) {
            while (rows.next()) {
                byte[] key = rows.key();
                IndexedRow row = rows.row();
                out.writeInt(key.length);
                out.write(key);
                out.writeInt(row.ordinal());
                out.writeInt(row.row());
                out.writeInt(row.length());
                out.writeInt(row.crc32c());
            }
            // Ends the rows. No key is empty.
            out.writeInt(0);
        }
    }

    /** Opens a cursor on such a file. */
    static RowCursor read(Path file) throws IOException {
        return read(new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES));
    }

    /** Opens a cursor on a stream of rows, which should be buffered. Closing the cursor closes it. */
    static RowCursor read(InputStream stream) {
        DataInputStream in = new DataInputStream(stream);
        return new RowCursor() {
            private byte[] key = {};
            private IndexedRow row = new IndexedRow(0, 0, 0, 0);

            @Override
            public boolean next() throws IOException {
                int length = in.readInt();
                if (length == 0) {
                    return false;
                }
                key = in.readNBytes(length);
                row = new IndexedRow(in.readInt(), in.readInt(), in.readInt(), in.readInt());
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

            @Override
            public void close() throws IOException {
                in.close();
            }
        };
    }
}

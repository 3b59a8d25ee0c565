package dev.stoker.bench.storage;

import java.io.Closeable;
import java.io.IOException;

/** Opened files of which blocks are read. Thread-safe. */
interface BlockSource extends Closeable {

    /** Reads blocks into one buffer, for one thread. */
    interface Reader {
        void read(Blocks.Block block) throws IOException;
    }

    /** Returns a reader of blocks of this size. */
    Reader reader(int blockBytes) throws IOException;
}

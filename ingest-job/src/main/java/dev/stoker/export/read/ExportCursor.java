package dev.stoker.export.read;

/** Walks over samples in an order. For one thread. */
interface ExportCursor {
    /** Moves to the next sample, at first to the first one. Returns false at the end. */
    boolean next();

    /** Returns the chunk of the sample, as an index into the stream's chunks. */
    int chunk();

    /** Returns the sample's row in its chunk. */
    int row();
}

package dev.stoker.server.window;

import dev.stoker.server.chunks.LocalFile;

/** The numbers by which a trainer knows files. */
public interface FileNumbers {
    /** Bytes of payload a row, on average of a piece, from which references are wanted. */
    int leastRow();

    /** A new piece begins; numbers given for it stay until the next one. */
    void begin();

    /** The file's number, or -1 if there is none left. */
    int numberOf(LocalFile file);
}

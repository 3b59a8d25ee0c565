package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;

/** Creates an object whole and only once on a kind of file system. Thread-safe. */
interface ObjectCreator {

    /** See {@link dev.stoker.storage.ObjectStore#createIfAbsent}. */
    boolean createIfAbsent(String name, byte[] content) throws IOException;

    /** See {@link dev.stoker.storage.ObjectStore#write}. */
    ObjectWriter write(String name) throws IOException;

    /**
     * Lists the remains of dead writers, besides temporary files; see {@link
     * dev.stoker.storage.ObjectStore#listUnfinished}.
     */
    ObjectIterator listUnfinished(String prefix) throws IOException;

    /** Deletes what {@link #listUnfinished} named. */
    boolean deleteUnfinished(String name) throws IOException;
}

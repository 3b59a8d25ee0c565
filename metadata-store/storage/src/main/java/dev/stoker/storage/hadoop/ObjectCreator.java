package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;

/** Creates a new object on one kind of file system, whole and only once. Thread-safe. */
interface ObjectCreator {

    /** See {@link dev.stoker.storage.ObjectStore#createIfAbsent}. */
    boolean createIfAbsent(String name, byte[] content) throws IOException;

    /** See {@link dev.stoker.storage.ObjectStore#replace}. */
    void replace(String name, byte[] content) throws IOException;

    /** See {@link dev.stoker.storage.ObjectStore#write}. */
    ObjectWriter write(String name) throws IOException;

    /**
     * Lists unfinished objects of dead writers, in addition to temporary files; see {@link
     * dev.stoker.storage.ObjectStore#listUnfinished}.
     */
    ObjectIterator listUnfinished(String prefix) throws IOException;

    /** Deletes an object that {@link #listUnfinished} has listed. */
    boolean deleteUnfinished(String name) throws IOException;
}

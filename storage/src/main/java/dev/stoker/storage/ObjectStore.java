package dev.stoker.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Provides a flat set of named, immutable objects under one root.
 *
 * <p>Names are relative to the root and use {@code /} between parts on every platform: {@code chunks/3f/….arrow}. A
 * name has no empty, {@code .} or {@code ..} part; {@link ObjectNames#check} enforces this. Objects never change: an
 * object is created whole, read, and deleted. The effects of a completed call survive a power loss.
 *
 * <p>All methods are safe for several threads and processes at the same time. They throw {@link NoSuchObjectException}
 * for an absent object and {@link NoSpaceException} for a full disk. Every other failure is an {@link IOException} that
 * names the object.
 */
public interface ObjectStore extends Closeable {

    /** Where an object is, as a person would type it: an absolute path or a URI. For messages. */
    String describe(String name);

    /** The object's length in bytes. */
    long length(String name) throws IOException;

    /**
     * Fills the target with the bytes from {@code offset} on, as many as it has remaining.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    void read(String name, long offset, ByteBuffer target) throws IOException;

    /**
     * Reads bytes from {@code offset} on and hands them on as they come, so that nothing need hold them all. Here they are all
     * held; a store that is far does better.
     *
     * @param length how many
     * @param sink takes them; what it throws comes out of here as it is
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object ends before
     */
    default void read(String name, long offset, int length, PartSink sink) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(length);
        read(name, offset, all);
        sink.put(offset, all.flip());
    }

    /**
     * The whole object.
     *
     * @param limitBytes an object longer than this is refused before anything is allocated
     * @throws dev.stoker.schemas.errors.CorruptDataException if the object is longer than the limit
     */
    byte[] readAll(String name, long limitBytes) throws IOException;

    /**
     * Creates the object with this content unless an object of this name exists: atomically, with all of its content or not
     * at all, durable when the call returns.
     *
     * @return whether this call created the object; {@code false} if there was one already
     * @throws UnknownOutcomeException if the object may or may not have been created
     */
    boolean createIfAbsent(String name, byte[] content) throws IOException;

    /**
     * Starts a new object of a name that no one else writes (it contains a random id). The object appears, whole and durable,
     * with {@link ObjectWriter#commit}; closing the writer without that leaves nothing behind.
     */
    ObjectWriter write(String name) throws IOException;

    /** All objects whose name starts with the prefix; see {@link #list(String, String)}. */
    default ObjectIterator list(String prefix) throws IOException {
        return list(prefix, "");
    }

    /**
     * The objects whose name starts with the prefix and is greater than {@code after} (compared by UTF-16 code units), in no
     * particular order, found while the iterator advances. An object created or deleted meanwhile may or may not be listed.
     * A prefix may end within a part of a name.
     */
    ObjectIterator list(String prefix, String after) throws IOException;

    /**
     * What writers that have died left behind below the prefix: temporary files, unfinished uploads. Writers at work are
     * listed too; the age tells. The names are good for {@link #delete} only.
     */
    ObjectIterator listUnfinished(String prefix) throws IOException;

    /**
     * Deletes the object; durable when the call returns.
     *
     * @return whether there was one
     */
    boolean delete(String name) throws IOException;

    /** The file that holds the object, if the store keeps objects as plain files that this machine can map. */
    Optional<Path> localPath(String name);

    /** Releases what the store holds; nothing that is stored is lost. */
    @Override
    void close() throws IOException;
}

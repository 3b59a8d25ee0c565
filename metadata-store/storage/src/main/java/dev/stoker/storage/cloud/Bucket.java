package dev.stoker.storage.cloud;

import dev.stoker.storage.retry.Failures;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to one bucket or container. A key is the full name of an object in the bucket. Every call is one
 * attempt. Methods throw {@link java.io.FileNotFoundException} for an absent object. Thread-safe.
 */
interface Bucket extends Closeable {

    /**
     * Describes an object.
     *
     * @param modifiedMs time of the last change, in milliseconds since 1970
     * @param tag identifies the content
     * @param mark random mark of the object's writer; empty if it has none
     */
    record Found(String key, long length, long modifiedMs, String tag, String mark) {}

    /**
     * Contains a part of a listing.
     *
     * @param directories common prefixes of keys, each with a slash at its end
     * @param next identifies the next page; null after the last
     */
    record Page(
            List<Found> objects,
            List<String> directories,
            @Nullable String next) {}

    /**
     * Contains the bytes of an object.
     *
     * @param content the requested bytes, up to the end of the object
     * @param objectLength length of the whole object
     */
    record Body(InputStream content, long objectLength) implements Closeable {
        @Override
        public void close() throws IOException {
            content.close();
        }
    }

    /** Lists which keys a listing has. */
    enum Depth {
        /** All keys with the prefix. */
        ALL,
        /** Only keys without a further slash. The others are summed up in directories. */
        ONE_LEVEL
    }

    /** Returns what messages call the bucket, such as {@code bucket photos}. */
    String describe();

    Failures failures();

    Found find(String key) throws IOException;

    /** Returns whether the store has a directory of this name, although no key may begin with it. */
    default boolean isEmptyDirectory(String key) throws IOException {
        return false;
    }

    /** Returns the bytes from the offset on. There are none at or after the end. */
    Body read(String key, long offset, long length) throws IOException;

    /**
     * Lists keys with a prefix.
     *
     * @param from the smallest key to list, if the store can begin there; the caller leaves out smaller ones
     * @param page see {@link Page#next}; null for the first
     */
    Page list(String prefix, String from, Depth depth, @Nullable String page) throws IOException;

    /**
     * Creates an object unless the key exists, in one atomic step.
     *
     * @return whether this call created it
     */
    boolean create(String key, byte[] content, int length, String mark) throws IOException;

    /**
     * Replaces the object with this tag.
     *
     * @return false if the object has another tag or does not exist
     */
    boolean replace(String key, byte[] content, String tag) throws IOException;

    /** Starts an object that is sent in pieces. */
    Upload upload(String key, String mark) throws IOException;

    /** Returns whether the object existed. */
    boolean delete(String key) throws IOException;

    /** Sends an object in pieces. A failed call can be repeated with the same arguments. Not thread-safe. */
    interface Upload {

        /** Sends a full piece; see {@link CloudWriter#PIECE_BYTES}. */
        void send(int number, byte[] piece) throws IOException;

        /**
         * Sends the last piece and creates the object unless the key exists, in one atomic step.
         *
         * @return whether this call created it
         */
        boolean finish(int number, byte[] piece, int length) throws IOException;

        /** Drops the pieces. The store deletes them later if this fails. */
        void abort() throws IOException;
    }
}

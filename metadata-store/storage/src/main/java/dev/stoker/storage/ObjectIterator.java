package dev.stoker.storage;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;

/** Iterates over a listing while it is fetched. Not thread-safe. The caller closes it. */
public interface ObjectIterator extends Closeable {

    /** Returns an iterator over nothing. */
    static ObjectIterator none() {
        return new ObjectIterator() {
            @Override
            public boolean hasNext() {
                return false;
            }

            @Override
            public ObjectInfo next() {
                throw new NoSuchElementException();
            }
        };
    }

    /** Returns whether another object was found. */
    boolean hasNext() throws IOException;

    /**
     * Returns the next object.
     *
     * @throws NoSuchElementException if there is no further object
     */
    ObjectInfo next() throws IOException;

    @Override
    default void close() throws IOException {}

    /** Fetches the rest of the listing and closes it. For small listings. */
    default List<ObjectInfo> toList() throws IOException {
        try (this) {
            List<ObjectInfo> objects = new ArrayList<>();
            while (hasNext()) {
                objects.add(next());
            }
            return objects;
        }
    }
}

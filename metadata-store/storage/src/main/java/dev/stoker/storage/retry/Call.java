package dev.stoker.storage.retry;

import java.io.IOException;

/** An operation on a store that can be repeated. */
@FunctionalInterface
public interface Call<T> {
    T run() throws IOException;
}

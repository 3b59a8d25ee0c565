package dev.stoker.storage.hadoop;

import java.io.IOException;

/** An operation on a store that can be repeated. */
@FunctionalInterface
interface Call<T> {
    T run() throws IOException;
}

package dev.stoker.storage.hadoop;

import java.io.IOException;

/** A request to a store, which may be repeated. */
@FunctionalInterface
interface Call<T> {
    T run() throws IOException;
}

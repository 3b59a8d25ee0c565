package dev.stoker.storage.hadoop;

import java.io.IOException;

/** Something asked of a store; may be asked again. */
@FunctionalInterface
interface Call<T> {
    T run() throws IOException;
}

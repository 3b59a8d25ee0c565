package dev.stoker.storage;

import java.nio.file.Path;
import java.util.function.IntConsumer;

/** Local stores that can be watched, or stopped, between any two changes of the file system. */
public final class SteppedStores {

    private SteppedStores() {}

    /** @param before receives the number of each change, from 0, before it is made */
    public static ObjectStore open(Path root, IntConsumer before) {
        return new LocalObjectStore(root, new SteppedFiles(before));
    }
}

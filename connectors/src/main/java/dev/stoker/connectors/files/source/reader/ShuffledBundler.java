package dev.stoker.connectors.files.source.reader;

import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.schemas.order.KeyHash;
import java.util.function.Consumer;

/** One open bundle for each bucket of the hash; 16 MiB when all are full. */
public final class ShuffledBundler implements Bundler {

    private static final int FIRST_CAPACITY = 256;

    private final long seed;
    private final PathBundle.Kind kind;
    private final Consumer<PathBundle> output;
    private final FileEntries.Writer[] buckets = new FileEntries.Writer[PathBundle.BUCKETS];

    public ShuffledBundler(long seed, PathBundle.Kind kind, Consumer<PathBundle> output) {
        this.seed = seed;
        this.kind = kind;
        this.output = output;
    }

    @Override
    public void add(String directory, byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars) {
        int place = PathBundle.bucketOf(KeyHash.hash(seed, key, 0, keyLength));
        FileEntries.Writer bucket = buckets[place];
        if (bucket == null) {
            bucket = new FileEntries.Writer(FIRST_CAPACITY);
            buckets[place] = bucket;
        }
        bucket.add(key, keyLength, size, modifiedMs, sidecars);
        if (bucket.length() >= BUNDLE_BYTES) {
            emit(place);
        }
    }

    @Override
    public void endDirectory(String directory) {}

    @Override
    public void flush() {
        for (int place = 0; place < buckets.length; place++) {
            if (buckets[place] != null && buckets[place].length() > 0) {
                emit(place);
            }
            buckets[place] = null;
        }
    }

    private void emit(int place) {
        output.accept(PathBundle.ofBucket(kind, place, buckets[place]));
    }
}

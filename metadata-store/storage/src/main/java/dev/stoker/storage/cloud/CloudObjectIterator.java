package dev.stoker.storage.cloud;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectNames;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.NoSuchElementException;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Lists all objects below a prefix, page by page. Not thread-safe. */
final class CloudObjectIterator implements ObjectIterator {

    private final Bucket bucket;
    private final CloudLocation location;
    private final Retries retries;
    private final String prefix;
    private final String after;
    private final Queue<ObjectInfo> found = new ArrayDeque<>();
    private @Nullable String next;
    private boolean isLast;

    CloudObjectIterator(Bucket bucket, CloudLocation location, Retries retries, String prefix, String after) {
        int slash = prefix.lastIndexOf('/');
        if (slash >= 0) {
            ObjectNames.check(prefix.substring(0, slash));
        }
        this.bucket = bucket;
        this.location = location;
        this.retries = retries;
        this.prefix = prefix;
        this.after = after;
    }

    @Override
    public boolean hasNext() throws IOException {
        while (found.isEmpty() && !isLast) {
            // Stores sort by bytes and Stoker by UTF-16 code units: for ASCII that is the same.
            boolean isAscii = after.chars().allMatch(c -> c < 0x80);
            String from = after.isEmpty() || !isAscii ? "" : location.prefix() + after;
            Bucket.Page page = retries.call(
                    "list",
                    location + "/" + prefix,
                    () -> bucket.list(location.prefix() + prefix, from, Bucket.Depth.ALL, next));
            for (Bucket.Found object : page.objects()) {
                String name = location.name(object.key());
                // Some tools create an empty object with a slash at its end for a directory.
                if (!name.isEmpty() && !name.endsWith("/") && name.compareTo(after) > 0) {
                    found.add(new ObjectInfo(name, object.length(), object.modifiedMs()));
                }
            }
            next = page.next();
            isLast = next == null;
        }
        return !found.isEmpty();
    }

    @Override
    public ObjectInfo next() throws IOException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return found.remove();
    }
}

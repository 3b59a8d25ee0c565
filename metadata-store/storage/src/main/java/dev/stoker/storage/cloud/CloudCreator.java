package dev.stoker.storage.cloud;

import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.retry.Call;
import dev.stoker.storage.retry.Retries;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.UUID;

/**
 * Creates objects with conditional writes. Each object has a random mark of its writer in its metadata. If the client
 * sends a write again after a lost reply, the store rejects it because of the first attempt. The mark identifies this
 * case. Thread-safe.
 */
final class CloudCreator {

    private final Bucket bucket;
    private final CloudLocation location;
    private final Retries retries;

    CloudCreator(Bucket bucket, CloudLocation location, Retries retries) {
        this.bucket = bucket;
        this.location = location;
        this.retries = retries;
    }

    CloudLocation location() {
        return location;
    }

    Retries retries() {
        return retries;
    }

    static String newMark() {
        return UUID.randomUUID().toString();
    }

    boolean createIfAbsent(String name, byte[] content) throws IOException {
        return createIfAbsent(name, content, content.length);
    }

    boolean createIfAbsent(String name, byte[] content, int length) throws IOException {
        String key = location.key(name);
        String mark = newMark();
        return create(name, mark, () -> bucket.create(key, content, length, mark));
    }

    /**
     * Repeats an attempt to create an object.
     *
     * @param attempt returns false if the store refuses it because the object exists
     * @return whether one of the attempts created the object
     */
    boolean create(String name, String mark, Call<Boolean> attempt) throws IOException {
        String where = location.describe(name);
        boolean[] maybeCreated = new boolean[1];
        try {
            return retries.call("write", where, () -> {
                try {
                    if (attempt.run()) {
                        return true;
                    }
                } catch (IOException e) {
                    maybeCreated[0] |= bucket.failures().mayHaveBeenDone(e);
                    throw e;
                }
                try {
                    return bucket.find(location.key(name)).mark().equals(mark);
                } catch (FileNotFoundException e) {
                    throw new IOException("conflicting writes", e);
                }
            });
        } catch (UnknownOutcomeException e) {
            throw e;
        } catch (IOException e) {
            throw maybeCreated[0] ? new UnknownOutcomeException(where, e) : e;
        }
    }

    /** Replaces the current object, so an object that another process deletes meanwhile does not come back. */
    void replace(String name, byte[] content) throws IOException {
        String key = location.key(name);
        retries.call("write", location.describe(name), () -> {
            if (!bucket.replace(key, content, bucket.find(key).tag())) {
                // A write whose reply was lost has changed the tag. The next attempt reads the new one.
                throw new IOException("conflicting writes");
            }
            return true;
        });
    }
}

package dev.stoker.metadata.erasure;

import dev.stoker.schemas.dataset.KeyHashes;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** Says whether a key is erased. For one thread. */
@FunctionalInterface
interface KeyTest {

    /** @param key the key's UTF-8 bytes */
    boolean isErased(byte[] key);

    default boolean isErased(String key) {
        return isErased(key.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a test for each thread. */
    static Supplier<KeyTest> of(KeyHashes keys) {
        Set<String> hashes = new HashSet<>(keys.hashes());
        return () -> {
            KeyHashes.Hasher hasher = keys.hasher();
            return key -> hashes.contains(hasher.hash(key));
        };
    }
}

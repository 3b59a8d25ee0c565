package dev.stoker.storage;

import java.util.Objects;

/**
 * A listed object.
 *
 * @param name relative to the store's root
 * @param length in bytes
 * @param modifiedMs the creation time in milliseconds since 1970, by the store's clock
 */
public record ObjectInfo(String name, long length, long modifiedMs) {
    public ObjectInfo {
        Objects.requireNonNull(name, "name");
    }
}

package dev.stoker.storage;

import java.util.Objects;

/**
 * Describes a listed object.
 *
 * @param name name relative to the store's root
 * @param length length in bytes
 * @param modifiedMs time of creation, in milliseconds since 1970, by the store's clock
 */
public record ObjectInfo(String name, long length, long modifiedMs) {
    public ObjectInfo {
        Objects.requireNonNull(name, "name");
    }
}

package dev.stoker.schemas.dataset;

import dev.stoker.schemas.log.ErasedClasses;
import java.util.Objects;

/**
 * A class whose name an erasure replaces by a tombstone.
 *
 * @param field the categorical field
 * @param id the id of the class, which it keeps
 * @param name the hash of its name, under the salt of the erasure
 * @param tombstone what replaces the name
 */
public record ErasedClass(String field, int id, String name, String tombstone) {
    public ErasedClass {
        Objects.requireNonNull(field, "field");
        KeyHashes.requireDigits(name);
        if (id < 0) {
            throw new IllegalArgumentException("a class of " + field + " with the id " + id);
        }
        if (!ErasedClasses.isTombstone(tombstone)) {
            throw new IllegalArgumentException("'" + tombstone + "' is not the name of an erased class");
        }
    }
}

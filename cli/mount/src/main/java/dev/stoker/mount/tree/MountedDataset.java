package dev.stoker.mount.tree;

import dev.stoker.storage.ObjectStore;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A dataset to show.
 *
 * @param name the directory that it gets; empty if it is the whole tree
 * @param store holds the dataset; closed with the tree
 * @param version the version to show; empty for the newest one, also of the future
 * @param field the field that is the content of files; null for the only one that can be
 */
public record MountedDataset(
        String name,
        ObjectStore store,
        OptionalLong version,
        @Nullable String field) {}

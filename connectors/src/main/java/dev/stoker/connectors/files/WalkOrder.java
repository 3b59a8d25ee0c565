package dev.stoker.connectors.files;

import java.io.Serializable;

/** The order in which the samples of a tree leave the sort. */
public sealed interface WalkOrder extends Serializable {

    /**
     * By the keyed hash of their keys.
     *
     * @param seed of the hash
     */
    record Shuffled(long seed) implements WalkOrder {
        private static final long serialVersionUID = 1;
    }

    /** As a depth-first listing would show them: a directory's files by name, then its sub-directories by name. */
    record Listed() implements WalkOrder {
        private static final long serialVersionUID = 1;
    }
}

package dev.stoker.connectors.files;

import java.io.Serializable;

/** The order in which the samples of a tree leave the sort. */
public sealed interface WalkOrder extends Serializable {

    /** Returns the order as plans show it. */
    String text();

    /**
     * By the keyed hash of their keys.
     *
     * @param seed of the hash
     */
    record Shuffled(long seed) implements WalkOrder {
        private static final long serialVersionUID = 1;

        @Override
        public String text() {
            return "shuffled, seed " + seed;
        }
    }

    /** As a depth-first listing would show them: a directory's files by name, then its sub-directories by name. */
    record Listed() implements WalkOrder {
        private static final long serialVersionUID = 1;

        @Override
        public String text() {
            return "listed";
        }
    }
}

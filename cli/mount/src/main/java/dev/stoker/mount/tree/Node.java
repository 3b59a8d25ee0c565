package dev.stoker.mount.tree;

import java.io.IOException;

/** A directory or a file of the tree. Immutable. */
public sealed interface Node {

    /** Returns the time of the last change, in milliseconds since 1970. */
    long modifiedMs();

    /** A directory. */
    non-sealed interface Directory extends Node {

        /** Begins a listing; the caller closes it. */
        DirectoryListing list() throws IOException;
    }

    /** A sample. */
    non-sealed interface File extends Node {

        /** Returns the number of bytes. */
        long size();

        /** Opens the sample of this version; the caller closes it. */
        OpenSample open() throws IOException;
    }
}

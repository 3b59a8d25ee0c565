/**
 * Datasets as a tree of directories and files: names, attributes, listings and verified reads. The tree is made from
 * the sample index while it is used, so a version with any number of samples opens at once. One thread looks for new
 * versions; all other work is done by the threads that ask. This package does not know FUSE.
 */
@NullMarked
package dev.stoker.mount.tree;

import org.jspecify.annotations.NullMarked;

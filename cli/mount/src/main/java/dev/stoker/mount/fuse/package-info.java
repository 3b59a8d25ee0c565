/**
 * Shows a tree through FUSE: the file system, mount points, and the records by which dead mounts are cleaned up. The
 * threads of libfuse call the file system; they block while they read. Only this package knows libfuse.
 */
@NullMarked
package dev.stoker.mount.fuse;

import org.jspecify.annotations.NullMarked;

/**
 * The version that each epoch of a following feed reads: chosen once, kept in a file, the same after a restart.
 */
package dev.stoker.metadata.follow;

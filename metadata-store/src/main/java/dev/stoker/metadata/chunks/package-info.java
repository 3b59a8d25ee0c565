/**
 * Heads of chunks, and the packing and writing of chunk files, for all that read or write whole chunks.
 */
package dev.stoker.metadata.chunks;

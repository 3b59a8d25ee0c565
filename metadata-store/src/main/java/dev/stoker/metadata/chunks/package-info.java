/**
 * Heads of chunks and writes of chunk files, for all that read or write whole chunks.
 */
package dev.stoker.metadata.chunks;

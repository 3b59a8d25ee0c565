/**
 * The runs of the sample index: files of sorted keys with the places of their samples, and a hash table over the keys.
 * Starts no threads and opens no files; callers pass in the bytes. Normative: {@code docs/formats/index.md}.
 */
package dev.stoker.schemas.index;

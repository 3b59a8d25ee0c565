/**
 * Where the bytes of chunks come from: the seam below which tiers lie.
 *
 * <p>Slices of {@link dev.stoker.feeder.node.chunks.ChunkBytes#bytes} go to gathering writes only, because touching a
 * mapping of a truncated file kills the process, while {@code writev} fails cleanly. Whatever is judged by its checksum is
 * read with {@link dev.stoker.feeder.node.chunks.ChunkSource#read} into owned memory.
 */
package dev.stoker.feeder.node.chunks;

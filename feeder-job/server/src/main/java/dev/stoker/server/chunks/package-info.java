/**
 * Reads the bytes of chunks. The tiers implement this interface.
 *
 * <p>Slices of {@link dev.stoker.server.chunks.ChunkBytes#bytes} may be used only in gathering writes: access to a
 * mapping of a truncated file kills the process, while {@code writev} reports an error. Bytes whose checksum is
 * verified are read into the process's own memory with {@link dev.stoker.server.chunks.ChunkSource#read}.
 */
package dev.stoker.server.chunks;

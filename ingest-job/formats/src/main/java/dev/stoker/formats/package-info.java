/**
 * Files of other systems, read as rows. A {@link dev.stoker.formats.RowFormat} opens a {@link
 * dev.stoker.formats.RowFile}, which is divided into {@link dev.stoker.formats.RowPart}s that can be read alone and in
 * parallel. Needs neither Flink nor a file system: a {@link dev.stoker.schemas.io.RangeReader} gives the bytes.
 */
package dev.stoker.formats;

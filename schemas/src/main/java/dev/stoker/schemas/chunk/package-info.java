/**
 * The chunk: one immutable Arrow file of many samples. Builder, head, and verification of whole files. Pure: reading
 * goes through {@link dev.stoker.schemas.io.RangeReader}; no threads, no paths.
 */
package dev.stoker.schemas.chunk;

/**
 * The chunk, one immutable Arrow file with many samples: builds chunks, reads their heads and verifies whole files.
 * Contains only pure code: it reads through {@link dev.stoker.schemas.io.RangeReader} and uses neither threads nor
 * paths.
 */
package dev.stoker.schemas.chunk;

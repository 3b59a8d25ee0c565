/**
 * Arrow IPC files and streams of other writers as rows. Reads the buffers of a record batch where they are, on the
 * heap, without Arrow's own memory management. (The layout of Stoker's chunks is in {@code dev.stoker.schemas.arrow}.)
 */
package dev.stoker.formats.arrow;

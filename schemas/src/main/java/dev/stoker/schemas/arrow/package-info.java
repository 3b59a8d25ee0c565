/**
 * The Arrow layouts that Stoker writes: field types, deterministic schema messages and footers, record batch messages
 * in one canonical layout, and files with one record batch. Readers check every offset and length against the file
 * before use. Contains only pure code: no threads, sockets or files. This package is independent of chunks, datasets
 * and feeds.
 */
package dev.stoker.schemas.arrow;

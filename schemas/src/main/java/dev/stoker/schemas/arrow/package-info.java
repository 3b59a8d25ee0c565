/**
 * Arrow as Stoker writes it: field types, deterministic schema messages and footers, record batch messages in one
 * canonical layout, files with one record batch. Readers check every offset and length against the file before they
 * use it. Pure: no threads, sockets or files, and it knows nothing of chunks, datasets or feeds.
 */
package dev.stoker.schemas.arrow;

/**
 * Batches: builds Arrow record batch messages from rows of several chunks, as parts for one gathering write. Never
 * reads payload bytes. Contains only pure code: no threads, sockets or files.
 */
package dev.stoker.schemas.batch;

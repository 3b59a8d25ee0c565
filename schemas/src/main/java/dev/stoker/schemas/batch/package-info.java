/**
 * Batches: Arrow record batch messages made of rows of several chunks, as parts for one gathering write. Payload
 * bytes are never touched. Pure: no threads, sockets or files.
 */
package dev.stoker.schemas.batch;

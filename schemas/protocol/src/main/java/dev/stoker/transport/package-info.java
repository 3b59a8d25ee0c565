/**
 * What both ends of a connection share besides the frames of {@code dev.stoker.schemas.protocol}: certificates, keys
 * and other small files, and the records of TLS. The loops that move bytes are separate on purpose: a client serves all
 * its connections from one thread that never blocks, a feeder has a thread for each direction of a session.
 */
package dev.stoker.transport;

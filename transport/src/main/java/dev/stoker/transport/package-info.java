/**
 * What both ends of a connection share besides the frames of {@code dev.stoker.schemas.protocol}: certificates, keys
 * and other small files. The loops that move bytes are separate on purpose: a feeder serves many trainers from few
 * threads and never blocks, a trainer waits for its next batch.
 */
package dev.stoker.transport;

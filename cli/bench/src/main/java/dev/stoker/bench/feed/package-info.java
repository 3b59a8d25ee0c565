/**
 * Measures a feed beside the ceilings of the same machine in the same minutes: a plain stream without order, frames or
 * checksums, and copies in memory. The sender of the plain stream is a separate process, as the feeder is, so that the
 * processor time of each end is known.
 */
package dev.stoker.bench.feed;

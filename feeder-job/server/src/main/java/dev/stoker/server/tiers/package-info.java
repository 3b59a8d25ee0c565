/**
 * Caches chunks between the feeder and a remote origin: one pool of direct memory, and tiers that store whole chunks in
 * files. Trainers on the same machine can read these files.
 *
 * <p>If a chunk is needed and no tier has it, a downloader thread reads it whole from the origin and checks it against
 * the length and checksum in the chunk table. The chunk stays in {@link dev.stoker.server.tiers.ChunkMemory} while
 * windows use it. In the background, and without a second read, the feeder places the chunk in the first tier with free
 * space. A feed does not evict its own chunks: every epoch has a new permutation, so eviction would only add reads.
 * Tiers are independent of each other and of the origin. A tier that fails is turned off and reports the reason, and
 * the feed continues.
 *
 * <p>Threads: as many downloaders as parallel reads of the origin are allowed, and one thread for each disk tier that
 * writes to it. This package uses neither sockets nor Flink.
 */
package dev.stoker.server.tiers;

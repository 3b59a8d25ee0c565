/**
 * What lies between the feeder and an origin that is far: one pool of direct memory, and tiers that keep whole chunks, in
 * files that trainers of the machine can read as well.
 *
 * <p>A chunk that is needed and in no tier is read whole from its origin by a downloader thread, checked against length and
 * checksum of the chunk table, and lies in {@link dev.stoker.feeder.node.tiers.ChunkMemory} while windows want it. What was
 * read that way is placed, in the background and without a second read, in the first tier with room. Nothing that a
 * feed keeps is evicted by the feed itself: under a fresh permutation each epoch that would only add reads. Tiers know neither each
 * other nor the origin; a tier that fails is turned off, says why, and the feed goes on.
 *
 * <p>Threads: so many downloaders as reads of the origin are allowed at a time, and one for each disk tier that writes to it. Knows
 * no sockets and no Flink.
 */
package dev.stoker.feeder.node.tiers;

/**
 * Compaction: rewrites small chunks of a version, and such that lost many of their rows, into chunks of the usual size, and
 * commits them in their place as one version. Old chunks stay where they are, for older versions.
 *
 * <p>A plan is made of the chunk table alone. Its groups know nothing of each other: each is read, shuffled and written by
 * one thread of a pool, and a second pool reads chunks. Everything that is decided is decided by the calling thread. Knows
 * nothing of Flink.
 */
package dev.stoker.connectors.compaction;

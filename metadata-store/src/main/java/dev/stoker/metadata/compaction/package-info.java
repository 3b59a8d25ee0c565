/**
 * Compaction: rewrites small chunks, and chunks that lost many rows, into chunks of the usual size, and commits the new
 * chunks in place of the old ones as one version. Old chunks remain for older versions.
 *
 * <p>The plan is computed from the chunk table alone. Its groups are independent: one thread of a pool reads, shuffles
 * and writes each group, and a second pool reads chunks. The calling thread makes all decisions. This package does not
 * use Flink.
 */
package dev.stoker.metadata.compaction;

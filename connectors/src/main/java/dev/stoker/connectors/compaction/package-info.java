/**
 * Compaction: rewrites small chunks of a version, and chunks that lost many rows to deletes, into chunks of the usual
 * size, and commits them as one version. The old chunks remain for older versions.
 *
 * <p>A plan is derived only from the chunk table. Its groups are independent: one thread of a pool reads, shuffles and
 * writes a group, and a second pool reads chunks. The calling thread makes all decisions. Independent of Flink.
 */
package dev.stoker.connectors.compaction;

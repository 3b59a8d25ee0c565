/**
 * Trees of files as a bounded Flink source. A split is one directory: the enumerator, on the JobManager, holds names of
 * directories only; a reader lists its directories and hands the sub-directories it finds back by source events. What comes
 * out are bundles of paths, grouped so that Flink's own sort of few records puts all files into the asked order.
 *
 * <p>Threads: the enumerator's methods run on the coordinator's thread; a reader's on the task's mailbox thread, while its
 * listing threads touch the file system. Nothing here opens a sample or knows what a chunk is.
 */
package dev.stoker.connectors.files;

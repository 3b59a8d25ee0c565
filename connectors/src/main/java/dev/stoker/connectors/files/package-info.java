/**
 * Trees of files as a bounded Flink source. A split is one directory. The enumerator, on the JobManager, has only the
 * names of directories. A reader lists its directories and reports their sub-directories by source events. The source
 * emits bundles of paths, grouped so that Flink's own sort of few records puts all files into the requested order.
 *
 * <p>Threads: the enumerator's methods run on the coordinator's thread; a reader's on the task's mailbox thread, while its
 * listing threads access the file system. This package never opens a sample and does not know chunks.
 */
package dev.stoker.connectors.files;

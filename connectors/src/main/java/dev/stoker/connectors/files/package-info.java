/**
 * Trees of files as a bounded Flink source.
 *
 * <p>A split is one directory. The enumerator, on the JobManager, stores only names of directories. A reader lists its
 * directories and returns the sub-directories that it finds as source events. The output consists of bundles of paths,
 * grouped so that Flink's sort of a few records puts all files into the requested order.
 *
 * <p>Threads: the enumerator's methods run on the coordinator's thread, and a reader's methods on the task's mailbox
 * thread. The reader's listing threads access the file system. This package opens no samples and is independent of
 * chunks.
 */
package dev.stoker.connectors.files;

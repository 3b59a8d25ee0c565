/**
 * Lists one directory at a time, on local disks and on other file systems, by the rules of a tree. Independent of
 * Flink's sources, so that an ingest can also look at a tree before its job starts. This package has no threads.
 */
package dev.stoker.connectors.files.listing;

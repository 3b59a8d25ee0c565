/**
 * Datasets, versions, commits and snapshots on an object store. Starts no threads.
 */
package dev.stoker.metadata;

/**
 * Object stores: ranged and whole reads, atomic create-if-absent, streamed writes, list, delete. Stores are thread-safe
 * and start no threads. This package is independent of datasets.
 */
package dev.stoker.storage;

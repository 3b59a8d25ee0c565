/**
 * Object stores: ranged and whole reads, atomic create-if-absent, streamed writes, list, delete. Starts no threads; every
 * store may be used by many threads at once. Knows nothing of datasets.
 */
package dev.stoker.storage;

/**
 * Object stores: ranged and whole reads, atomic create-if-absent, streamed writes, list, delete. Starts no threads;
 * many threads may use a store at once. Independent of datasets.
 */
package dev.stoker.storage;

/**
 * Object stores: ranged and whole reads, atomic create-if-absent, list, delete. Knows nothing of datasets.
 */
package dev.stoker.storage;

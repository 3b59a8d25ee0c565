/**
 * The sample index of a dataset: finds, lists and reads samples by key. A build reads chunk heads in threads that the
 * caller provides. Reading starts no threads. Nothing outside of this package depends on the index: an answer is the
 * same without it, only slower.
 */
package dev.stoker.metadata.index;

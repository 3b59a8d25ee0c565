/**
 * Says what each version of a dataset changed, from its log and its chunk tables. Reads no chunk. Has no threads of its
 * own.
 */
package dev.stoker.metadata.history;

/** Retries of calls of remote stores, and explanations of the failures that remain. Knows no particular store. */
package dev.stoker.storage.retry;

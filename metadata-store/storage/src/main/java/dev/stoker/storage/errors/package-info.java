/**
 * The failures of stores that callers distinguish.
 */
package dev.stoker.storage.errors;

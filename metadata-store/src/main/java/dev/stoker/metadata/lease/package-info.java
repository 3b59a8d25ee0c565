/**
 * Leases of writers, which keep garbage collection away from chunks that no version names yet.
 */
package dev.stoker.metadata.lease;

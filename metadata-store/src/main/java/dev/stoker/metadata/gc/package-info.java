/**
 * Garbage collection and the expiry of versions. Deletes only what no version, lease or running feed needs.
 */
package dev.stoker.metadata.gc;

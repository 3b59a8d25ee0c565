/**
 * Commits versions: what a version adds and removes, and the one atomic create that publishes it. Starts no threads.
 */
package dev.stoker.metadata.commit;

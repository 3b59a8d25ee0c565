/** Finds samples with the same key before a sink commits. Runs on the tasks' threads, and starts none. */
package dev.stoker.connectors.dataset.sink.keys;

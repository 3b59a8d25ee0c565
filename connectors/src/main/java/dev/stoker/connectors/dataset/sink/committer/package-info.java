/**
 * Commits versions, each once even after retries, on the task's thread.
 */
package dev.stoker.connectors.dataset.sink.committer;

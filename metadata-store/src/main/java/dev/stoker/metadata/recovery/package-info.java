/**
 * Recovery of a dataset that lost a description, log entries, chunks or overlays.
 */
package dev.stoker.metadata.recovery;

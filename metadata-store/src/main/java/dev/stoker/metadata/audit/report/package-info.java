/**
 * What an audit found, as ranges of epochs and batches.
 */
package dev.stoker.metadata.audit.report;

/**
 * Verbs that bring samples in and out of a dataset.
 */
package dev.stoker.cli.ingest;

/**
 * Reads the rows of source files in runs, and maps their columns to fields.
 */
package dev.stoker.ingest.rows.read;

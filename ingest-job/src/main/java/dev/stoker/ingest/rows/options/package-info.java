/**
 * Options of an ingest of rows, and the sources that they name.
 */
package dev.stoker.ingest.rows.options;

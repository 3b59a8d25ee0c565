/**
 * Files with rows: which they are, what they hold, and what their names say.
 */
package dev.stoker.ingest.rows.source;

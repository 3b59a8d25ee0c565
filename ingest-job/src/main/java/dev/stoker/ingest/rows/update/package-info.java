/**
 * The rows of {@code stoker update}: a table with the keys and the new values of fields.
 */
package dev.stoker.ingest.rows.update;

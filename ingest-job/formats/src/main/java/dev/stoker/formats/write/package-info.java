/**
 * What a writer of a format receives: a table, its columns and batches of rows.
 */
package dev.stoker.formats.write;

/**
 * Fields whose content is in files that a column names ({@code --read}).
 */
package dev.stoker.ingest.rows.content;

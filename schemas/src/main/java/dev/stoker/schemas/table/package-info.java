/**
 * The chunk table, which lists all chunks that a dataset ever had at one version, as columns in memory and as an Arrow
 * file; and the class table. Contains only byte layouts. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.table;

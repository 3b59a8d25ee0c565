/**
 * The chunk table: all chunks that a dataset ever had, at one version, columnar in memory and as an Arrow file; and the
 * class table. Pure bytes. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.table;

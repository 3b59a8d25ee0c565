/**
 * Entries of the commit log: one immutable Avro file per version, which lists the added chunks and the removed rows.
 * Contains only byte layouts; the metadata store reads and writes the files. Normative: {@code
 * docs/formats/dataset.md}.
 */
package dev.stoker.schemas.log;

/**
 * Entries of the commit log: one immutable Avro file per version, saying which chunks it added and which rows it removed.
 * Pure bytes; where the files lie is the business of the metadata store. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.log;

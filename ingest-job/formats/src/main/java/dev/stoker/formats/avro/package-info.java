/**
 * Avro container files, and single records of topics, as rows. Avro parses the schema; records are decoded here, with
 * bounds on the sizes that they declare.
 */
package dev.stoker.formats.avro;

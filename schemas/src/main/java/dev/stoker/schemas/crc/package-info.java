/**
 * CRC-32C of concatenations: computes the checksum of a message from the checksums of its parts, without reading their
 * bytes.
 */
package dev.stoker.schemas.crc;

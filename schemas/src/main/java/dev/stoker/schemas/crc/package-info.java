/** CRC-32C of concatenations: the sum of a message follows from the sums of its parts without touching their bytes. */
package dev.stoker.schemas.crc;

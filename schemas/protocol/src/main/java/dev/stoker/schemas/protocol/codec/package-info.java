/**
 * Encodes and decodes messages of the feed protocol. Checks each length before it allocates memory.
 */
package dev.stoker.schemas.protocol.codec;

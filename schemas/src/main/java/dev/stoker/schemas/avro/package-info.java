/**
 * The small part of Avro that Stoker's formats use: binary encoding, and containers without compression.
 *
 * <p>Stoker has its own implementation because the bytes are part of the formats: the order of the header, one block
 * per record, a fixed sync marker where the format requires one. It also checks every length that it reads before it
 * allocates memory.
 */
package dev.stoker.schemas.avro;

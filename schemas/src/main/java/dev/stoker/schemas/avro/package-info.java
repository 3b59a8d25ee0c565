/**
 * The small part of Avro that Stoker's formats use: binary encoding, and containers without compression. Written out here,
 * because the bytes are part of the formats: header order, one block per record, no random sync marker where it must not be,
 * and no allocation from a length that was read before it is checked.
 */
package dev.stoker.schemas.avro;

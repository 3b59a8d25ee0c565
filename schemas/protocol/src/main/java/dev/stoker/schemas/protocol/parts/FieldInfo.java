package dev.stoker.schemas.protocol.parts;

/**
 * Describes a field of the stream's dataset, in dataset order. The type remains text, because a client may know types
 * that this module does not.
 *
 * @param name its name
 * @param type its canonical type string
 * @param nullable whether values may be null
 * @param payload whether it is a payload field
 */
public record FieldInfo(String name, String type, boolean nullable, boolean payload) {}

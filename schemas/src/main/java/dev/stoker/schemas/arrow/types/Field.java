package dev.stoker.schemas.arrow.types;

/**
 * Describes a field of a dataset. The key is not a field; it is the implicit first column.
 *
 * @param name has 1 to 255 bytes of UTF-8 without control characters, and is not reserved
 * @param type any type except fixed-size binary
 * @param nullable whether a sample may lack a value
 * @param payload whether it is served without copying; only for utf8, binary, lists of numbers and tensors
 */
public record Field(String name, FieldType type, boolean nullable, boolean payload) {
    /** Name of the implicit first column. */
    public static final String KEY = "key";

    public Field {
        FieldNames.check(name);
        if (type instanceof FixedBinaryType) {
            throw new IllegalArgumentException("field '" + name + "' cannot have the type " + type);
        }
        if (payload && !type.mayBePayload()) {
            throw new IllegalArgumentException("field '" + name + "' of type " + type + " cannot be payload; "
                    + (type.items() != null
                            ? "a row of it is not one run of bytes; make it a small field"
                            : "only utf8, binary, lists of numbers and tensors can"));
        }
    }

    /** Creates a small field that each sample has. */
    public static Field small(String name, FieldType type) {
        return new Field(name, type, false, false);
    }

    /** Creates a small field that a sample may lack. */
    public static Field nullable(String name, FieldType type) {
        return new Field(name, type, true, false);
    }

    /** Creates a payload field. */
    public static Field payload(String name, FieldType type) {
        return new Field(name, type, false, true);
    }
}

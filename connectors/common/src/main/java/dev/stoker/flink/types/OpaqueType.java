package dev.stoker.flink.types;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * A type whose structure Flink does not see, with its own serializer.
 *
 * @param <T> the type
 */
public final class OpaqueType<T> extends TypeInformation<T> {

    private static final long serialVersionUID = 1;

    private final Class<T> type;
    private final TypeSerializer<T> serializer;
    private final boolean key;

    private OpaqueType(Class<T> type, TypeSerializer<T> serializer, boolean key) {
        this.type = type;
        this.serializer = serializer;
        this.key = key;
    }

    /** A type of values. */
    public static <T> OpaqueType<T> value(Class<T> type, TypeSerializer<T> serializer) {
        return new OpaqueType<>(type, serializer, false);
    }

    /** A type of keys: equality and order of the serialized form are those of the keys. */
    public static <T> OpaqueType<T> key(Class<T> type, TypeSerializer<T> serializer) {
        return new OpaqueType<>(type, serializer, true);
    }

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<T> getTypeClass() {
        return type;
    }

    @Override
    public boolean isKeyType() {
        return key;
    }

    @Override
    public TypeSerializer<T> createSerializer(SerializerConfig config) {
        return serializer.duplicate();
    }

    @Override
    public String toString() {
        return type.getSimpleName();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OpaqueType<?> that && type.equals(that.type) && serializer.equals(that.serializer);
    }

    @Override
    public int hashCode() {
        return type.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof OpaqueType;
    }
}

package dev.stoker.connectors.files;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Flink's view of {@link ListedKey}: a key with its own serializer. */
public final class ListedKeyType extends TypeInformation<ListedKey> {

    public static final ListedKeyType INSTANCE = new ListedKeyType();

    private static final long serialVersionUID = 1;

    private ListedKeyType() {}

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
    public Class<ListedKey> getTypeClass() {
        return ListedKey.class;
    }

    @Override
    public boolean isKeyType() {
        return true;
    }

    @Override
    public TypeSerializer<ListedKey> createSerializer(SerializerConfig config) {
        return ListedKeySerializer.INSTANCE;
    }

    @Override
    public String toString() {
        return "ListedKey";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ListedKeyType;
    }

    @Override
    public int hashCode() {
        return ListedKeyType.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof ListedKeyType;
    }

    private Object readResolve() {
        return INSTANCE;
    }
}

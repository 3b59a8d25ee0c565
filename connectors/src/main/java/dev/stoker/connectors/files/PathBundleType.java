package dev.stoker.connectors.files;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Flink's view of {@link PathBundle}: opaque, with its own serializer. */
public final class PathBundleType extends TypeInformation<PathBundle> {

    public static final PathBundleType INSTANCE = new PathBundleType();

    private static final long serialVersionUID = 1;

    private PathBundleType() {}

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
    public Class<PathBundle> getTypeClass() {
        return PathBundle.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<PathBundle> createSerializer(SerializerConfig config) {
        return PathBundleSerializer.INSTANCE;
    }

    @Override
    public String toString() {
        return "PathBundle";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PathBundleType;
    }

    @Override
    public int hashCode() {
        return PathBundleType.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof PathBundleType;
    }

    private Object readResolve() {
        return INSTANCE;
    }
}

package dev.stoker.connectors.chunks;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/** Flink's view of {@link PackReport}: opaque, with its own serializer. */
public final class PackReportType extends TypeInformation<PackReport> {

    public static final PackReportType INSTANCE = new PackReportType();

    private static final long serialVersionUID = 1;

    private PackReportType() {}

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
    public Class<PackReport> getTypeClass() {
        return PackReport.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<PackReport> createSerializer(SerializerConfig config) {
        return PackReportSerializer.INSTANCE;
    }

    @Override
    public String toString() {
        return "PackReport";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PackReportType;
    }

    @Override
    public int hashCode() {
        return PackReportType.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof PackReportType;
    }

    private Object readResolve() {
        return INSTANCE;
    }
}

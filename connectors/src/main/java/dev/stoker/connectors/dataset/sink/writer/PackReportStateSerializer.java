package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PackReportSerializer;
import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Version 1: a report as in {@link PackReportSerializer}. */
public final class PackReportStateSerializer implements SimpleVersionedSerializer<PackReport> {

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(PackReport report) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(128);
        PackReportSerializer.INSTANCE.serialize(report, out);
        return out.getCopyOfBuffer();
    }

    @Override
    public PackReport deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException("A report of a sink has version " + version + ", this code reads " + VERSION);
        }
        return PackReportSerializer.INSTANCE.deserialize(new DataInputDeserializer(serialized));
    }
}

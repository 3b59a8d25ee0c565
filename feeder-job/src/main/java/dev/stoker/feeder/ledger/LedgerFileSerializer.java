package dev.stoker.feeder.ledger;

import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Version 1: name as Flink writes a UTF text, length of the bytes as an int, bytes. */
final class LedgerFileSerializer implements SimpleVersionedSerializer<LedgerFile> {

    private static final int VERSION = 1;

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(LedgerFile file) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(file.bytes().length + 64);
        out.writeUTF(file.name());
        out.writeInt(file.bytes().length);
        out.write(file.bytes());
        return out.getCopyOfBuffer();
    }

    @Override
    public LedgerFile deserialize(int version, byte[] serialized) throws IOException {
        if (version != VERSION) {
            throw new IOException("The state of a ledger has version " + version + ", this code reads " + VERSION);
        }
        DataInputDeserializer in = new DataInputDeserializer(serialized);
        String name = in.readUTF();
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("The state of a ledger is damaged: " + length + " bytes of " + name
                    + " are announced, " + in.available() + " are there");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return new LedgerFile(name, bytes);
    }
}

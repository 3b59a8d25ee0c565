package dev.stoker.schemas.batch;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.SeekableReadChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;

/** The other Java implementation of Arrow, as the judge of ours. */
final class ArrowJudge {
    private ArrowJudge() {}

    /** The one record batch of a file; the caller closes it. */
    static VectorSchemaRoot readFile(byte[] file, BufferAllocator allocator) throws IOException {
        try (ArrowFileReader reader = new ArrowFileReader(
                new SeekableReadChannel(new ByteArrayReadableSeekableByteChannel(file)), allocator)) {
            reader.loadNextBatch();
            VectorSchemaRoot read = reader.getVectorSchemaRoot();
            VectorSchemaRoot copy = VectorSchemaRoot.create(read.getSchema(), allocator);
            try (ArrowRecordBatch batch = new VectorUnloader(read).getRecordBatch()) {
                new VectorLoader(copy).load(batch);
            }
            if (reader.loadNextBatch()) {
                throw new IllegalStateException("more than one record batch");
            }
            return copy;
        }
    }

    /** A record batch message whose columns are a chunk's without the sums; the caller closes it. */
    static VectorSchemaRoot readMessage(byte[] message, Schema chunk, BufferAllocator allocator) throws IOException {
        List<Field> fields = chunk.getFields().stream()
                .filter(field -> !field.getName().startsWith("crc32c:"))
                .toList();
        VectorSchemaRoot root = VectorSchemaRoot.create(new Schema(fields), allocator);
        ReadChannel in = new ReadChannel(Channels.newChannel(new ByteArrayInputStream(message)));
        try (ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(in, allocator)) {
            new VectorLoader(root).load(batch);
        }
        return root;
    }
}

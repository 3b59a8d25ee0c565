package dev.stoker.server.session.accept;

import dev.stoker.server.chunks.DirectMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;

/**
 * A mapped file in memory: one copy for each byte, and pages that are allocated once. The file has no name, so no other
 * process can truncate it.
 */
final class StagingFile implements Staging.Medium {
    private final FileChannel file;
    private final MappedByteBuffer mapped;

    /** @throws IOException if the directory does not exist, cannot be written or has no room */
    StagingFile(Path tmpfs) throws IOException {
        file = FileChannel.open(
                tmpfs.resolve("stoker-send-" + UUID.randomUUID()),
                // The JDK unlinks the file as soon as it is open.
                Set.of(
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.DELETE_ON_CLOSE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            // A page that is only mapped would be allocated at its first use, and a lack of room would be a signal.
            ByteBuffer zeros = ByteBuffer.allocate(Staging.BYTES);
            while (zeros.hasRemaining()) {
                file.write(zeros);
            }
            mapped = file.map(MapMode.READ_ONLY, 0, Staging.BYTES);
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    @Override
    public ByteBuffer copy(ByteBuffer[] parts, int from, int count) throws IOException {
        long taken = file.position(0).write(parts, from, count);
        return mapped.duplicate().position(0).limit(Math.toIntExact(taken));
    }

    @Override
    public void close() throws IOException {
        DirectMemory.free(mapped);
        file.close();
    }
}

package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.FileAnnouncement;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** A trainer's files, and the messages that it puts together from them. */
final class AnnouncedFiles {
    final Map<Long, FileAnnouncement> known = new HashMap<>();
    int announced;

    void learn(FileAnnouncement file) throws IOException {
        Map<String, Object> found = Files.readAttributes(Path.of(file.path()), "unix:dev,ino,size");
        assertThat(found.get("size")).isEqualTo(file.length());
        assertThat(((Number) found.get("ino")).longValue()).isEqualTo(file.inode());
        assertThat(((Number) found.get("dev")).longValue()).isEqualTo(file.device());
        known.put(file.file(), file);
        announced++;
    }

    Batch resolve(BatchRef ref) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(ref.header().messageBytes());
        message.put(ref.inline().duplicate());
        for (BatchRef.Slice slice : ref.slices()) {
            ByteBuffer part = message.slice(message.position(), (int) slice.length());
            message.position(message.position() + (int) slice.length());
            if (slice.file() != BatchRef.ZEROS) {
                try (FileChannel file =
                        FileChannel.open(Path.of(known.get(slice.file()).path()))) {
                    assertThat(file.read(part, slice.offset())).isEqualTo((int) slice.length());
                }
            }
        }
        return new Batch(ref.header(), message.flip());
    }
}

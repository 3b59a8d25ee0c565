package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.LocalReadException;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.parts.PieceSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalReadsTest {
    @TempDir
    private Path directory;

    private final LocalReads files = new LocalReads(2);

    @AfterEach
    void close() {
        files.close();
    }

    private FileAnnouncement file(int number, byte[] content) throws IOException {
        Path path = Files.write(directory.resolve("chunk-" + number), content);
        Map<String, Object> found = Files.readAttributes(path, "unix:dev,ino");
        return new FileAnnouncement(
                number, (Long) found.get("dev"), (Long) found.get("ino"), content.length, path.toString());
    }

    private static BatchRef reference(byte[] inline, BatchRef.Slice... slices) {
        int bytes = inline.length;
        for (BatchRef.Slice slice : slices) {
            bytes += (int) slice.length();
        }
        BatchIdentity identity = new BatchIdentity(1, 2, 0, 0, 0, 0, 1, 1, 0, false);
        return new BatchRef(
                new BatchHeader(identity, PieceSource.whole(0, 0), 1, bytes, 0),
                ByteBuffer.wrap(inline),
                List.of(slices));
    }

    private static byte[] random(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }

    @Test
    void aMessageIsWhatItsSlicesHold() throws Exception {
        byte[] first = random(3_000_000);
        byte[] second = random(1000);
        byte[] inline = random(64);
        files.announce(file(0, first));
        files.announce(file(1, second));
        List<BatchRef.Slice> slices = new ArrayList<>(List.of(
                new BatchRef.Slice(1, 1000, 0),
                new BatchRef.Slice(BatchRef.ZEROS, 24, 0),
                new BatchRef.Slice(0, 2_000_000, 999_936)));
        ByteBuffer expected = ByteBuffer.allocate(64 + 1024 + 2_000_000);
        expected.put(inline).put(second).put(new byte[24]).put(first, 999_936, 2_000_000);
        ByteBuffer message = ByteBuffer.allocateDirect(expected.capacity() + 5);
        message.put(0, random(expected.capacity()));
        assertThat(files.read(reference(inline, slices.toArray(BatchRef.Slice[]::new)), message))
                .hasValue(Crc32cs.of(expected.flip()));
        assertThat(message).isEqualTo(expected);
    }

    @Test
    void bytesThatLackAreNoSum() throws Exception {
        FileAnnouncement file = file(0, random(4096));
        files.announce(file);
        try (FileChannel channel = FileChannel.open(Path.of(file.path()), StandardOpenOption.WRITE)) {
            channel.truncate(2000);
        }
        ByteBuffer message = ByteBuffer.allocateDirect(4096);
        assertThat(files.read(reference(new byte[0], new BatchRef.Slice(0, 2048, 0)), message))
                .isEmpty();
        assertThat(files.read(reference(new byte[0], new BatchRef.Slice(0, 1024, 0)), message))
                .isPresent();
    }

    @Test
    void whatWasNotAnnouncedIsRefused() throws Exception {
        files.announce(file(0, random(4096)));
        ByteBuffer message = ByteBuffer.allocateDirect(8192);
        for (BatchRef.Slice slice : List.of(
                new BatchRef.Slice(1, 64, 0), new BatchRef.Slice(0, 64, 4033), new BatchRef.Slice(0, 8192, 0))) {
            assertThatThrownBy(() -> files.read(reference(new byte[0], slice), message))
                    .isInstanceOf(ConnectionLostException.class)
                    .hasMessageContaining("not announced");
        }
        FileAnnouncement beyond = file(2, random(10));
        assertThatThrownBy(() -> files.announce(beyond))
                .isInstanceOf(ConnectionLostException.class)
                .hasMessageContaining("file 2, agreed were 2");
    }

    @Test
    void aFileThatIsAnotherHereIsNotHanded() throws Exception {
        FileAnnouncement file = file(0, random(100));
        assertThatThrownBy(() -> files.announce(
                        new FileAnnouncement(0, file.device(), file.inode() + 1, file.length(), file.path())))
                .isInstanceOf(LocalReadException.class)
                .hasMessageContaining("not the same file here");
        assertThatThrownBy(() -> files.announce(
                        new FileAnnouncement(0, file.device(), file.inode(), file.length() - 1, file.path())))
                .isInstanceOf(LocalReadException.class);
        assertThatThrownBy(() -> files.announce(
                        new FileAnnouncement(0, file.device(), file.inode(), file.length(), file.path() + "x")))
                .isInstanceOf(LocalReadException.class)
                .hasMessageContaining("chunk-0x");
        assertThat(files.size()).isZero();
    }

    @Test
    void aNumberThatIsAnnouncedAgainStandsForTheNewFile() throws Exception {
        files.announce(file(0, random(64)));
        FileAnnouncement second = file(1, random(128));
        files.announce(new FileAnnouncement(0, second.device(), second.inode(), 128, second.path()));
        ByteBuffer message = ByteBuffer.allocateDirect(128);
        assertThat(files.read(reference(new byte[0], new BatchRef.Slice(0, 128, 0)), message))
                .hasValue(Crc32cs.of(random(128)));
        assertThat(files.size()).isEqualTo(1);
    }

    @Test
    void everySixteenthReferenceIsToldOf() throws Exception {
        files.announce(file(0, random(64)));
        ByteBuffer message = ByteBuffer.allocateDirect(64);
        for (int n = 1; n <= 40; n++) {
            files.read(reference(new byte[0], new BatchRef.Slice(0, 64, 0)), message);
            assertThat(files.due().orElse(0)).isEqualTo(n % 16 == 0 ? n : 0);
        }
    }
}

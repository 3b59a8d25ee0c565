package dev.stoker.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RegularFileTest {
    @TempDir
    Path directory;

    @Test
    void tellsWhatOthersThanTheOwnerCanRead() throws IOException {
        Path file = Files.writeString(directory.resolve("key.pem"), "secret");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(RegularFile.sharing(file)).isEmpty();
        for (String shared : new String[] {"rw-r-----", "rw----r--", "rw-r--r--"}) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(shared));
            assertThat(RegularFile.sharing(file)).contains(shared);
        }
        assertThat(RegularFile.sharing(directory.resolve("absent"))).isEmpty();
    }

    @Test
    void readsOnlyRegularFilesOfALimitedSize() throws Exception {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        Path file = Files.writeString(directory.resolve("file"), "keep");
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        assertThat(RegularFile.read(link, 4)).asString().isEqualTo("keep");
        assertThat(RegularFile.text(link)).isEqualTo("keep");
        assertThatThrownBy(() -> RegularFile.read(fifo)).hasMessageContaining(fifo + ": it is not a regular file");
        assertThatThrownBy(() -> RegularFile.read(directory)).hasMessageContaining("it is not a regular file");
        assertThatThrownBy(() -> RegularFile.read(file, 3)).hasMessageContaining("it has more than 3 bytes");
    }

    @Test
    void saysWhyAFileCannotBeRead() {
        assertThatThrownBy(() -> RegularFile.read(directory.resolve("absent")))
                .isInstanceOfSatisfying(
                        IOException.class,
                        e -> assertThat(RegularFile.reason(e)).isEqualTo("it does not exist"));
        assertThatThrownBy(() -> RegularFile.read(directory))
                .isInstanceOfSatisfying(
                        IOException.class,
                        e -> assertThat(RegularFile.reason(e)).isEqualTo("it is not a regular file"));
    }
}

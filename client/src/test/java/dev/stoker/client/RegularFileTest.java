package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
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
    void aFileOfKafkaSettingsIsNotWaitedFor() throws Exception {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() ->
                        TopicTarget.parse("kafka://a:1/t").clients(Map.of("STOKER_KAFKA_CONFIG", fifo.toString())))
                .isInstanceOf(FeedException.class)
                .hasMessageContaining("STOKER_KAFKA_CONFIG names: it is not a regular file");
    }
}

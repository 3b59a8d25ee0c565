package dev.stoker.feeder.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StokerHomeTest {

    @Test
    void isWherePythonLooksWhateverThePasswordFileSays() {
        assertThat(StokerHome.directory(Map.of("HOME", "/users/a"), "/passwd")).isEqualTo(Path.of("/users/a/.stoker"));
        assertThat(StokerHome.directory(Map.of(), "/passwd")).isEqualTo(Path.of("/passwd/.stoker"));
        assertThat(StokerHome.directory(Map.of("HOME", ""), "/passwd")).isEqualTo(Path.of("/passwd/.stoker"));
        assertThat(StokerHome.directory(Map.of("HOME", "/users/a", "STOKER_HOME", "/b"), "/passwd"))
                .isEqualTo(Path.of("/b"));
    }

    @Test
    void refusesAFile(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("home"));
        assertThatThrownBy(() -> StokerHome.requireDirectory(file))
                .isInstanceOf(StokerException.class)
                .hasMessage("STOKER_HOME=" + file + " is a file; name a directory");
        StokerHome.requireDirectory(directory);
        StokerHome.requireDirectory(directory.resolve("later"));
    }
}

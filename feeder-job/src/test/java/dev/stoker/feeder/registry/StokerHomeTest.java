package dev.stoker.feeder.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StokerHomeTest {

    @Test
    void isWherePythonLooksWhateverThePasswordFileSays() {
        assertThat(StokerHome.directory(Map.of("HOME", "/users/a"), "/passwd")).isEqualTo(Path.of("/users/a/.stoker"));
        assertThat(StokerHome.directory(Map.of(), "/passwd")).isEqualTo(Path.of("/passwd/.stoker"));
        assertThat(StokerHome.directory(Map.of("HOME", ""), "/passwd")).isEqualTo(Path.of("/passwd/.stoker"));
        assertThat(StokerHome.directory(Map.of("HOME", "/users/a", "STOKER_HOME", "/b"), "/passwd"))
                .isEqualTo(Path.of("/b"));
    }
}

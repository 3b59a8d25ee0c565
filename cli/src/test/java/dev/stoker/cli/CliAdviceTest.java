package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CliAdviceTest {
    @Test
    void eachAdviceIsRegistered() throws IOException {
        Set<String> verbs = Stoker.command().getSubcommands().keySet();
        assertThat(Advice.differences(
                        Path.of("src/test/resources/advice.tsv"),
                        List.of(
                                Path.of("src/test/java"),
                                Path.of("it/src/test/java"),
                                Path.of("mount/src/test/java"),
                                Path.of("bench/src/test/java")),
                        verbs,
                        Path.of("src/main/java"),
                        Path.of("mount/src/main/java"),
                        Path.of("bench/src/main/java")))
                .isEmpty();
    }
}

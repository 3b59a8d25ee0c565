package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What messages recommend is registered, each with the test that follows it. */
class CliAdviceTest {
    private static final Set<String> VERBS = Stoker.command().getSubcommands().keySet();

    private static List<Path> tests(String... modules) {
        return Stream.of(modules)
                .map(module -> Path.of(module, "src/test/java"))
                .toList();
    }

    private static Path[] sources(String... modules) {
        return Stream.of(modules)
                .map(module -> Path.of(module, "src/main/java"))
                .toArray(Path[]::new);
    }

    @Test
    void eachAdviceIsRegistered() throws IOException {
        assertThat(Advice.differences(
                        Path.of("src/test/resources/advice.tsv"),
                        tests("", "it", "mount", "bench"),
                        VERBS,
                        sources("", "mount", "bench")))
                .isEmpty();
    }

    /** The verbs are here, so their commands are followed here; the other modules follow the options themselves. */
    @Test
    void eachCommandOfOtherModulesIsRegistered() throws IOException {
        assertThat(Advice.differencesOfCommands(
                        Path.of("src/test/resources/commands.tsv"),
                        tests("", "it", "mount", "../ingest-job", "../feeder-job"),
                        VERBS,
                        sources(
                                "../schemas",
                                "../metadata-store",
                                "../metadata-store/storage",
                                "../connectors",
                                "../connectors/common",
                                "../connectors/sql",
                                "../connectors/hadoop",
                                "../ingest-job",
                                "../ingest-job/formats",
                                "../feeder-job",
                                "../feeder-job/server",
                                "../client")))
                .isEmpty();
    }
}

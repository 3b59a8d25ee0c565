package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TagVerbTest extends DatasetVerbs {

    @BeforeEach
    void create() throws IOException {
        dataset.append(4, 100, 6);
    }

    @Test
    void aTagSelectsAVersion() throws IOException {
        assertThat(stoker("tag", path(), "paper", "1")).isZero();
        assertThat(out.toString()).contains("tag paper names version 1");
        assertThat(stoker("info", path() + "@paper", "--json")).isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(9);
        assertThat(stoker("info", path(), "--version", "paper", "--json")).isZero();
        assertThat(json().path("version").asInt()).isEqualTo(1);
        assertThat(stoker("show", path() + "@paper")).isZero();
        assertThat(stoker("verify", path() + "@paper")).isZero();
        assertThat(out.toString()).contains("version 1: 9 samples");

        assertThat(stoker("info", path() + "@papers")).isEqualTo(1);
        assertThat(err.toString()).contains("has no tag papers; it has paper");
        assertThat(stoker("info", path() + "@1", "--version", "paper")).isEqualTo(2);
        assertThat(err.toString()).contains("give two versions");
    }

    @Test
    void listsMovesAndDeletesTags() throws IOException {
        assertThat(stoker("tag", path())).isZero();
        assertThat(out.toString()).contains("no tags");
        assertThat(stoker("tag", path(), "best", "1", "--json")).isZero();
        assertThat(json().path("version").asInt()).isEqualTo(1);

        assertThat(stoker("tag", path(), "best")).isEqualTo(1);
        assertThat(err.toString()).contains("names version 1", "stoker tag " + path() + " best VERSION --move");
        assertThat(stoker("tag", path(), "best", "--move")).isZero();
        assertThat(stoker("tag", path(), "--json")).isZero();
        assertThat(json().at("/0/tag").asText()).isEqualTo("best");
        assertThat(json().at("/0/version").asInt()).isEqualTo(2);
        assertThat(stoker("tag", path(), "same", "best")).isZero();
        assertThat(stoker("tag", path())).isZero();
        assertThat(out.toString()).contains("best ", "same ");

        assertThat(stoker("tag", path(), "best", "--delete")).isZero();
        assertThat(out.toString()).contains("deleted tag best, which named version 2");
        assertThat(stoker("tag", path(), "best", "--delete")).isEqualTo(1);
        assertThat(stoker("tag", path(), "--delete")).isEqualTo(2);
        assertThat(stoker("tag", path(), "7")).isEqualTo(2);
        assertThat(stoker("tag", path(), "other", "9")).isEqualTo(1);
    }

    @Test
    void aDirectoryWithAnAtSignIsADirectory() throws IOException {
        TestDataset other = TestDataset.create(directory.resolve("photos@paper"), 3, 100, 7);
        assertThat(Files.isDirectory(other.path())).isTrue();
        assertThat(stoker("info", other.path().toString(), "--json")).isZero();
        assertThat(json().path("samples").asInt()).isEqualTo(7);
    }

    @Test
    void aTimeSelectsAVersion() throws IOException {
        assertThat(stoker("info", path(), "--as-of", "0", "--json")).isZero();
        assertThat(json().path("version").asInt()).isEqualTo(2);
        assertThat(stoker("info", path(), "--as-of", "1960-01-01")).isEqualTo(1);
        assertThat(err.toString()).contains("has no version at ");
        assertThat(stoker("info", path(), "--as-of", "0", "--version", "1")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"noon", "2026-13-01", "2026-11-20T25:00", "7", "99999999999999d", "-7d", ""})
    void aTimeThatIsNoneIsAnsweredWithTheFormsOfTimes(String text) throws IOException {
        assertThat(stoker("info", path(), "--as-of", text)).isEqualTo(2);
        assertThat(err.toString())
                .contains(
                        "option --as-of: '" + text + "' is not a time such as 2026-11-20, 2026-11-20T10:00:00Z or 7d");
    }

    @Test
    void readsTimesOfSeveralForms() {
        InstantSource clock = InstantSource.fixed(Instant.parse("2026-11-20T10:00:00Z"));
        ZoneId zone = ZoneOffset.ofHours(2);
        assertThat(VersionTimes.parse("7d", clock, zone)).isEqualTo("2026-11-13T10:00:00Z");
        assertThat(VersionTimes.parse("2026-11-20", clock, zone)).isEqualTo("2026-11-19T22:00:00Z");
        assertThat(VersionTimes.parse("2026-11-20T10:00", clock, zone)).isEqualTo("2026-11-20T08:00:00Z");
        assertThat(VersionTimes.parse("2026-11-20T10:00Z", clock, zone)).isEqualTo("2026-11-20T10:00:00Z");
        assertThat(VersionTimes.parse("2026-11-20T10:00:30-05:00", clock, zone)).isEqualTo("2026-11-20T15:00:30Z");
        assertThatThrownBy(() -> VersionTimes.parse("2026-13-20", clock, zone))
                .hasMessageContaining("option --as-of: '2026-13-20' is not a time");
    }
}

package dev.stoker.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchDirectoryTest {
    @TempDir
    Path directory;

    @Test
    void takesTheNextPlaceIfNativeLibrariesCannotBeLoadedFromTheFirst() throws Exception {
        Path first = Files.createDirectory(directory.resolve("noexec"));
        Path second = directory.resolve("home/tmp");

        Path own = ScratchDirectory.takeFirst(List.of(first, second), path -> !path.startsWith(first));

        assertThat(own).hasParent(second);
        assertThat(first).isEmptyDirectory();
    }

    @Test
    void saysThatPlacesAreMountedNoexec() throws Exception {
        Path place = Files.createDirectory(directory.resolve("noexec"));

        assertThatThrownBy(() -> ScratchDirectory.takeFirst(List.of(place), path -> false))
                .isInstanceOf(CommandException.class)
                .hasMessage("no place for temporary files (" + place + ": native libraries cannot be loaded from it,"
                        + " because it is mounted noexec); free some space, or choose another place with"
                        + " STOKER_JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY");
    }
}

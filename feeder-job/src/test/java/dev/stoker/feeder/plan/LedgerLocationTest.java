package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dataset may be where nobody can write, and the ledger is in it by default. */
class LedgerLocationTest {

    @TempDir
    private Path directory;

    private void refused(String reason, String... args) {
        assertThatThrownBy(() -> FeedPlan.of(FeedOptions.parse(args)))
                .isInstanceOf(StokerException.class)
                .hasMessageStartingWith("the ledger cannot be written to ")
                .hasMessageContaining(reason)
                .hasMessageEndingWith("; give another directory or URI with --ledger PLACE");
    }

    @Test
    void aPlaceThatCannotBeWrittenNamesTheOption() throws IOException {
        String dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4)
                .path()
                .toString();
        // In a container, this file system is mounted read-only.
        refused("/sys/stoker/ledger: ", dataset, "--ledger", "/sys/stoker/ledger");
        Files.createDirectories(Path.of(dataset, "_stoker"));
        Files.writeString(Path.of(dataset, "_stoker", "feeds"), "in the way");
        refused("/_stoker/feeds/", dataset);
    }
}

package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.TestDataset;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderWarningsTest {

    @TempDir
    private Path directory;

    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 3, 4000, 50, 40);
    }

    private List<String> warnings(String... options) throws IOException {
        String[] all = new String[options.length + 1];
        all[0] = dataset.path().toString();
        System.arraycopy(options, 0, all, 1, options.length);
        return StartWarnings.ofTopic(FeedPlan.of(FeedOptions.parse(all)));
    }

    @Test
    void aWindowBelowAChunkIsNamedWithBothSizes() throws IOException {
        assertThat(warnings("--shuffle-window", "64 bytes"))
                .singleElement()
                .asString()
                .contains(dataset.path() + "@1, split train: the shuffle window (64 B) is smaller than a chunk (")
                .contains("give a larger one, such as --shuffle-window 64mb");
    }

    @Test
    void otherWindowsAreFine() throws IOException {
        assertThat(warnings()).isEmpty();
        assertThat(warnings("--shuffle-window", "1 MiB")).isEmpty();
        assertThat(warnings("--shuffle-window", "0")).as("within chunks").isEmpty();
        assertThat(warnings("--shuffle-window", "64 bytes", "--shuffle", "none"))
                .isEmpty();
    }
}

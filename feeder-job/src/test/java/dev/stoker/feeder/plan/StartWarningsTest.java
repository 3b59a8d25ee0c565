package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.TestDataset;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StartWarningsTest {

    @TempDir
    private Path directory;

    private FeedPlan plan;
    private Path record;
    private TestDataset dataset;
    private final List<String> opened = new ArrayList<>();

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 3, 4000, 50, 40);
        String path = dataset.path().toString();
        plan = FeedPlan.of(
                FeedOptions.parse(new String[] {"train=" + path, "again=" + path, "--shuffle-window", "64 bytes"}));
        record = dataset.path().resolve("_stoker/erasures/2c3d4e5f-6071-4283-9495-a6b7c8d9eaf0/done.json");
        Files.createDirectories(record.getParent());
        Files.writeString(record, "damaged");
    }

    private List<String> warnings() {
        return StartWarnings.ofTrainers(plan, location -> {
            opened.add(location);
            return Stores.open(location);
        });
    }

    @Test
    void opensTheDatasetOfAllStreamsOnce() {
        assertThat(warnings())
                .hasSize(3)
                .satisfies(all ->
                        assertThat(all.subList(0, 2)).allMatch(text -> text.contains("the shuffle window (64 B)")))
                .last()
                .asString()
                .contains(record.toString(), "until then, tiers may keep copies of the erased chunks");
        assertThat(opened).hasSize(1);
    }

    @Test
    void aTopicHasNoTiers() {
        assertThat(StartWarnings.ofTopic(plan)).hasSize(2).noneMatch(text -> text.contains("tiers"));
    }

    @Test
    void aWarningIsPrintedThoughAnotherLookFails() throws IOException {
        PrivateFiles.delete(dataset.path().resolve("chunks"));
        assertThat(warnings()).last().asString().contains(record.toString());
        PrivateFiles.delete(dataset.path());
        assertThat(warnings()).isEmpty();
    }
}

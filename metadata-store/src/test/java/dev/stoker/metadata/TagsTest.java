package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TagsTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;
    private Tags tags;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        place(store, 1, 5);
        for (int version = 1; version <= 5; version++) {
            committer(dataset).commit(append("v" + version, summary(version, "train", 10)));
        }
        tags = new Tags(dataset);
    }

    private Tag set(String name, long version, Tags.Mode mode) throws IOException {
        return tags.set(name, version, mode, CLOCK, "ada@host");
    }

    private List<String> files() throws IOException {
        return store.list(DatasetLayout.TAGS).toList().stream()
                .map(object -> object.name().substring(DatasetLayout.TAGS.length()))
                .sorted()
                .toList();
    }

    @Test
    void givesAVersionAName() throws IOException {
        set("best", 2, Tags.Mode.CREATE);
        set("v1.0", 4, Tags.Mode.CREATE);

        assertThat(tags.find("best").orElseThrow().version()).isEqualTo(2);
        assertThat(new VersionName("best").in(dataset)).isEqualTo(2);
        assertThat(new VersionName("3").in(dataset)).isEqualTo(3);
        assertThat(tags.all().keySet()).containsExactly("best", "v1.0");
        assertThat(tags.find("bes")).isEmpty();
        assertThat(set("best", 2, Tags.Mode.CREATE).number()).as("set again").isEqualTo(1);
    }

    @Test
    void movesATagOnlyWhenTold() throws IOException {
        set("best", 2, Tags.Mode.CREATE);

        assertThatThrownBy(() -> set("best", 3, Tags.Mode.CREATE))
                .isInstanceOf(TagExistsException.class)
                .hasMessageContaining("names version 2 since 2026-11-20T10:00:00.123Z, by ada@host; move it with");
        for (long version = 3; version <= 5; version++) {
            assertThat(set("best", version, Tags.Mode.MOVE).number()).isEqualTo(version - 1);
        }
        assertThat(tags.find("best").orElseThrow().version()).isEqualTo(5);
        assertThat(files()).containsExactly("best/00000000000000000003.json", "best/00000000000000000004.json");
    }

    @Test
    void aDeletedTagCanBeCreatedAgain() throws IOException {
        set("best", 2, Tags.Mode.CREATE);
        assertThat(tags.delete("best", CLOCK, "ada@host").orElseThrow().version())
                .isEqualTo(2);

        assertThat(tags.find("best")).isEmpty();
        assertThat(tags.all()).isEmpty();
        assertThat(tags.delete("best", CLOCK, "ada@host")).isEmpty();
        assertThatThrownBy(() -> new VersionName("best").in(dataset))
                .isInstanceOf(StokerException.class)
                .hasMessageContaining("has no tag best; it has no tags");
        assertThat(set("best", 1, Tags.Mode.CREATE).number()).isEqualTo(3);
    }

    @Test
    void aTagNamesAnExistingVersion() {
        assertThatThrownBy(() -> set("best", 6, Tags.Mode.CREATE)).isInstanceOf(UnknownVersionException.class);
        assertThatThrownBy(() -> set("best", 0, Tags.Mode.CREATE)).isInstanceOf(UnknownVersionException.class);
        assertThatThrownBy(() -> new VersionName("a/b")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aDamagedOrForeignFileIsNoTag() throws IOException {
        set("best", 2, Tags.Mode.CREATE);
        String name = DatasetLayout.TAGS + Tag.file("best", 1);
        byte[] content = store.readAll(name, 1 << 20);
        store.createIfAbsent(DatasetLayout.TAGS + Tag.file("other", 1), content);
        assertThatThrownBy(() -> tags.find("other"))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("it is change 1 of tag best");

        content[content.length / 2] ^= 1;
        store.corrupt(name, content);
        assertThatThrownBy(() -> tags.find("best")).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void findsVersionsByTheTimeOfTheirCommit() throws IOException {
        Dataset timed = Dataset.create(new InMemoryObjectStore(CLOCK), info());
        place(timed.store(), 1, 3);
        for (int version = 1; version <= 3; version++) {
            InstantSource clock = InstantSource.fixed(Instant.ofEpochSecond(100L * version));
            new VersionCommitter(timed, clock, "ada@host").commit(append("v" + version, summary(version, "train", 10)));
        }

        assertThat(VersionTimes.find(timed, Instant.ofEpochSecond(100))).isEqualTo(1);
        assertThat(VersionTimes.find(timed, Instant.ofEpochSecond(299))).isEqualTo(2);
        assertThat(VersionTimes.find(timed, Instant.ofEpochSecond(999))).isEqualTo(3);
        DatasetReference newest = DatasetReference.parse("/data/photos:val").orElseThrow();
        DatasetReference first = DatasetReference.parse("/data/photos@1").orElseThrow();
        assertThat(newest.asOf(Instant.ofEpochSecond(299)).open(timed).version())
                .isEqualTo(2);
        assertThat(newest.open(timed).version()).isEqualTo(3);
        assertThat(first.asOf(Instant.ofEpochSecond(299)).open(timed).version()).isEqualTo(1);
        assertThatThrownBy(() -> VersionTimes.find(timed, Instant.ofEpochSecond(99)))
                .isInstanceOf(UnknownVersionException.class)
                .hasMessageContaining("has no version at 1970-01-01T00:01:39Z; version 1 was committed at");
    }
}

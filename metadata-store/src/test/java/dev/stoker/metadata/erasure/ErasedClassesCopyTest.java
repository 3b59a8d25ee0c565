package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.copy.CopyRefusedException;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.CopyRule;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.ErasedClasses;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A copy that was made before class names were erased stays a copy, and gives the same ids. */
class ErasedClassesCopyTest {

    private final InMemoryObjectStore source = new InMemoryObjectStore(CLOCK);
    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    @BeforeEach
    void create() throws IOException {
        Dataset dataset =
                Dataset.create(source, SampleDatasets.info().withClasses(Map.of("label", List.of("zedekiah"))));
        append(dataset, "a", List.of("danielle"), write(source, id(1), "a", "train", "danielle/1"));
        append(dataset, "b", List.of("danielle", "dog"), write(source, id(2), "b", "train", "danielle/2", "dog/1"));
        append(dataset, "c", List.of("zedekiah", "zoo"), write(source, id(3), "c", "train", "zedekiah/1", "zoo/1"));
    }

    private static void append(Dataset dataset, String ingest, List<String> classes, ChunkSummary... chunks)
            throws IOException {
        new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(2, 4096))
                .commit(VersionRequest.append(ingest, List.of(chunks), Map.of("label", classes), Map.of()));
    }

    private CopyResult copy() throws IOException {
        return new DatasetCopy(
                        Dataset.open(source),
                        target,
                        new CopyRule(OptionalLong.empty(), 1, Set.of()),
                        CLOCK,
                        "ada",
                        SampleDatasets.IGNORING)
                .run();
    }

    @Test
    void aCopyFollowsItsSourceAfterAnErasureOfClassNames() throws Exception {
        copy();
        ErasableDataset.erase(source, "danielle/1", "danielle/2", "zedekiah/1");
        append(
                Dataset.open(source),
                "later",
                List.of("danielle", "gnu"),
                write(source, id(9), "later", "train", "danielle/9", "gnu/1"));

        copy();
        copy();

        Dataset dataset = Dataset.open(source);
        Dataset copied = Dataset.open(target);
        assertThat(copied.latestVersion()).isEqualTo(dataset.latestVersion());
        List<String> names = dataset.snapshot().classes().names("label");
        assertThat(names).hasSize(6).filteredOn(ErasedClasses::isTombstone).hasSize(2);
        assertThat(copied.snapshot().classes().names("label")).isEqualTo(names);
        for (long version = 1; version <= dataset.latestVersion(); version++) {
            for (String name : List.of("dog", "zoo", "gnu")) {
                assertThat(copied.anySnapshot(version).classes().id("label", name))
                        .as(name + " in version " + version)
                        .isEqualTo(dataset.anySnapshot(version).classes().id("label", name));
            }
        }
        assertThat(new Verification(copied, Runnable::run, 1, bytes -> {})
                        .run(copied.snapshot())
                        .problems())
                .isEmpty();
    }

    @Test
    void anotherCommitAtTheCopyIsStillRefused() throws Exception {
        copy();
        ErasableDataset.erase(source, "danielle/1", "danielle/2", "zedekiah/1");
        append(Dataset.open(target), "other", List.of("ant"), write(target, id(8), "other", "train", "ant/1"));

        assertThatThrownBy(this::copy).isInstanceOf(CopyRefusedException.class).hasMessageContaining("Version 4");
    }
}

package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.names;
import static dev.stoker.metadata.copy.CopiedDatasets.requireClean;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static dev.stoker.metadata.copy.CopiedDatasets.three;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.copy.CopyRule.Extra;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Chunk tables and index runs of a target, and mirrors. */
class DerivedCopiesTest {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);
    private Instant now = NOW;

    private static void index(InMemoryObjectStore store) throws Exception {
        new IndexBuild(Dataset.open(store), BuildThreads.ofCaller(), read -> {}).update();
    }

    @Test
    void copiesTheSampleIndexExceptDamagedRuns() throws Exception {
        InMemoryObjectStore source = three();
        index(source);
        run(source, target);
        assertThat(names(target, DatasetLayout.INDEX))
                .isEqualTo(names(source, DatasetLayout.INDEX))
                .hasSize(1);
        SampleIndex found =
                SampleIndex.open(Dataset.open(target), Dataset.open(target).snapshot());
        assertThat(found.chunksWithoutRun()).isZero();
        assertThat(found.stat("cat/2b")).isPresent();

        append(source, 4);
        index(source);
        Set<String> runs = names(source, DatasetLayout.INDEX);
        runs.removeAll(names(target, DatasetLayout.INDEX));
        String damaged = runs.iterator().next();
        byte[] content = source.readAll(damaged, 1 << 20);
        content[content.length / 2] ^= 1;
        source.corrupt(damaged, content);
        run(source, target);
        assertThat(names(target, DatasetLayout.INDEX)).doesNotContain(damaged);
        requireEqual(source, target);
    }

    @Test
    void copiesChunkTablesAndDeletesSupersededOnes() throws Exception {
        InMemoryObjectStore source = CopiedDatasets.empty();
        VersionCommitter committer =
                new VersionCommitter(Dataset.open(source), CLOCK, "ada@host", new TablePolicy(2, 100));
        for (int number = 1; number <= 24; number++) {
            ChunkSummary chunk = write(source, id(number), "ingest-" + number, "train", "cat/" + number);
            committer.commit(VersionRequest.append(
                    "ingest-" + number, List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
            if (number % 5 == 0) {
                run(source, target);
                requireEqual(source, target);
                requireClean(target);
            }
        }
        run(source, target);
        Set<String> tables = names(target, DatasetLayout.TABLES);
        assertThat(tables).contains(DatasetLayout.table(24)).hasSizeLessThan(9);
        assertThat(tables).containsAll(names(source, DatasetLayout.TABLES));
        assertThat(run(source, target).isUnchanged()).isTrue();
    }

    private Mirror mirror(FaultyObjectStore source) throws IOException {
        CopyRule rule = new CopyRule(OptionalLong.empty(), 1, Set.of(Extra.TAGS_OF_SOURCE));
        return new Mirror(
                Dataset.open(source),
                target,
                rule,
                Duration.ofHours(24),
                () -> now,
                "ada@host",
                SampleDatasets.IGNORING);
    }

    @Test
    void aMirrorLooksAtNoChunkWithoutAChangeAndDeletesWhatBecomesOld() throws Exception {
        InMemoryObjectStore store = three();
        FaultyObjectStore source = new FaultyObjectStore(store);
        Mirror mirror = mirror(source);
        assertThat(mirror.next().orElseThrow().copy().versions()).isEqualTo(3);
        source.reset();
        assertThat(mirror.next()).isEmpty();
        assertThat(source.calls())
                .hasSizeLessThan(8)
                .noneMatch(call -> call.operation().changes());

        CopiedDatasets.replace(store, 4);
        CopiedDatasets.tag(store, "best", 4);
        CopiedDatasets.expire(store, 5);
        Mirror.Round round = mirror.next().orElseThrow();
        assertThat(round.copy().versions()).isEqualTo(2);
        assertThat(round.deleted()).as("too early for readers").isEmpty();
        assertThat(mirror.next()).isEmpty();
        now = now.plus(Duration.ofHours(25));
        assertThat(mirror.next().orElseThrow().deleted())
                .as("only version 4 is left")
                .hasSize(3);
        requireEqual(store, target);
        assertThat(mirror.next()).isEmpty();
    }
}

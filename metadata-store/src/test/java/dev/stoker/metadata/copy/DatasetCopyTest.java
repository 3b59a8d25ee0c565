package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.chunk;
import static dev.stoker.metadata.copy.CopiedDatasets.chunks;
import static dev.stoker.metadata.copy.CopiedDatasets.content;
import static dev.stoker.metadata.copy.CopiedDatasets.copy;
import static dev.stoker.metadata.copy.CopiedDatasets.expired;
import static dev.stoker.metadata.copy.CopiedDatasets.names;
import static dev.stoker.metadata.copy.CopiedDatasets.requireClean;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static dev.stoker.metadata.copy.CopiedDatasets.tag;
import static dev.stoker.metadata.copy.CopiedDatasets.tags;
import static dev.stoker.metadata.copy.CopiedDatasets.three;
import static dev.stoker.metadata.copy.CopiedDatasets.upTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.copy.CopyRule.Extra;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatasetCopyTest {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    @Test
    void makesTheSameDataset() throws Exception {
        InMemoryObjectStore source = three();

        CopyResult planned = copy(source, target, CopiedDatasets.rule()).plan();
        assertThat(names(target, "")).isEmpty();
        CopyResult result = run(source, target);

        requireEqual(source, target);
        assertThat(content(target)).isEqualTo(content(source));
        assertThat(result.versions()).isEqualTo(planned.versions()).isEqualTo(3);
        assertThat(result.copied()).isEqualTo(planned.copied());
        assertThat(result.copied().count()).isEqualTo(3);
        assertThat(result.copied().bytes())
                .isEqualTo(Dataset.open(source).snapshot().table().liveBytes());
    }

    @Test
    void copiesOnlyWhatIsNew() throws Exception {
        InMemoryObjectStore source = three();
        run(source, target);
        FaultyObjectStore watched = new FaultyObjectStore(source);
        CopyResult again = run(watched, target);
        assertThat(again.isUnchanged()).isTrue();
        assertThat(again.present()).isEqualTo(3);
        assertThat(watched.calls()).noneMatch(call -> call.name().startsWith("chunks/"));

        append(source, 4);
        tag(source, "best", 4);
        watched.reset();
        CopyResult more = run(watched, target);
        assertThat(more.before()).isEqualTo(3);
        assertThat(more.version()).isEqualTo(4);
        assertThat(more.copied().count()).isEqualTo(1);
        assertThat(more.present()).isEqualTo(3);
        assertThat(watched.calls().stream()
                        .filter(call -> call.name().startsWith("chunks/"))
                        .map(FaultyObjectStore.Call::name))
                .containsOnly(chunk(4));
        requireEqual(source, target);
    }

    @Test
    void copiesUpToAVersion() throws Exception {
        InMemoryObjectStore source = three();
        tag(source, "last", 3);
        copy(source, target, upTo(2)).run();

        assertThat(Dataset.open(target).latestVersion()).isEqualTo(2);
        assertThat(chunks(target)).containsExactlyInAnyOrder(chunk(1), chunk(2));
        assertThat(tags(target)).isEqualTo(Map.of("best", 2L));
        requireClean(target);
        assertThat(copy(source, target, upTo(1)).run().version()).isEqualTo(2);
        assertThatThrownBy(() -> copy(source, target, upTo(4)).run()).isInstanceOf(UnknownVersionException.class);

        run(source, target);
        requireEqual(source, target);
    }

    @Test
    void leavesOutChunksOfExpiredVersions() throws Exception {
        InMemoryObjectStore source = expired();
        CopyResult result = run(source, target);

        requireEqual(source, target);
        assertThat(result.versions()).isEqualTo(5);
        assertThat(chunks(target)).containsExactlyInAnyOrder(chunk(3), chunk(5));
        assertThat(tags(target)).isEqualTo(Map.of("best", 3L));
        assertThatThrownBy(() -> Dataset.open(target).snapshot(2)).isInstanceOf(ExpiredVersionException.class);
        assertThat(run(source, target).isUnchanged()).isTrue();
    }

    @Test
    void refusesAVersionBeforeTheExpiryOfEarlierOnes() throws IOException {
        InMemoryObjectStore source = expired();
        assertThatThrownBy(() -> copy(source, target, upTo(3)).run())
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 1 of ")
                .hasMessageContaining("was expired by version 4")
                .hasMessageContaining("copy up to version 4 or a later one");
        copyUpToFour(source);
    }

    private void copyUpToFour(InMemoryObjectStore source) throws IOException {
        copy(source, target, upTo(4)).run();
        assertThat(Dataset.open(target).latestVersion()).isEqualTo(4);
    }

    @Test
    void namesTheVersionAtWhichTheTargetDiverged() throws IOException {
        InMemoryObjectStore source = three();
        run(source, target);
        append(target, 7);
        append(target, 8);

        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("has version 5, but version 3 is the newest of");
        for (int number = 10; number < 14; number++) {
            append(source, number);
        }
        Map<String, String> before = content(target);
        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 4 of ")
                .hasMessageContaining("a commit was made to one of the two after the last copy")
                .hasMessageContaining("give the copy another target");
        assertThat(content(target)).isEqualTo(before);
    }

    @Test
    void noticesAnEntryThatDiffersBeforeTheNewest() throws IOException {
        InMemoryObjectStore source = three();
        run(source, target);
        InMemoryObjectStore other = CopiedDatasets.empty();
        append(other, 1);
        append(other, 9);
        target.corrupt(DatasetLayout.logEntry(2), other.readAll(DatasetLayout.logEntry(2), 1 << 20));
        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 2 of ");
    }

    @Test
    void neverTouchesAnotherDataset() throws IOException {
        InMemoryObjectStore source = three();
        DatasetInfo own = SampleDatasets.info();
        Dataset.create(target, new DatasetInfo(new UUID(1, 2), own.name(), own.created(), own.fields(), own.options()));
        Map<String, String> before = content(target);

        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("is another dataset than ")
                .hasMessageContaining("00000000-0000-0001-0000-000000000002");
        assertThat(content(target)).isEqualTo(before);
    }

    @Test
    void anEmptySourceChangesNothing() throws IOException {
        run(three(), target);
        Map<String, String> before = content(target);
        InMemoryObjectStore source = CopiedDatasets.empty();
        assertThatThrownBy(() -> run(source, target, Extra.TAGS_OF_SOURCE))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("has version 3, but there is no version in ");
        assertThat(content(target)).isEqualTo(before);
    }

    @Test
    void bringsChangesOfTagsAndAMirrorUndoesThoseOfTheTarget() throws Exception {
        InMemoryObjectStore source = three();
        run(source, target);
        tag(source, "best", 3);
        new Tags(Dataset.open(source)).set("gone", 1, Tags.Mode.CREATE, CLOCK, "ada");
        run(source, target);
        assertThat(tags(target)).isEqualTo(Map.of("best", 3L, "gone", 1L));

        new Tags(Dataset.open(source)).delete("gone", CLOCK, "ada");
        tag(target, "best", 1);
        tag(target, "own", 1);
        run(source, target);
        assertThat(tags(target)).isEqualTo(Map.of("best", 1L, "own", 1L));
        CopyResult mirrored = run(source, target, Extra.TAGS_OF_SOURCE);
        assertThat(mirrored.others().count()).isEqualTo(2);
        requireEqual(source, target);
        assertThat(run(source, target, Extra.TAGS_OF_SOURCE).isUnchanged()).isTrue();
        tag(source, "best", 1);
        run(source, target, Extra.TAGS_OF_SOURCE);
        requireEqual(source, target);
    }

    @Test
    void copiesLedgersOnRequest() throws IOException {
        InMemoryObjectStore source = three();
        String ledger = DatasetLayout.FEEDS + new UUID(1, 2) + "/ledger/part-1.avro";
        byte[] content = "a ledger".getBytes(StandardCharsets.UTF_8);
        source.createIfAbsent(ledger, content);
        source.createIfAbsent(DatasetLayout.DEAD_LETTERS + "topic/0/1.json", new byte[0]);
        run(source, target);
        assertThat(names(target, DatasetLayout.FEEDS)).isEmpty();

        assertThat(run(source, target, Extra.LEDGERS).others()).isEqualTo(new CopyResult.Files(2, content.length));
        assertThat(target.readAll(ledger, 100)).isEqualTo(content);
        assertThat(run(source, target, Extra.LEDGERS).isUnchanged()).isTrue();
    }

    @Test
    void restoresFromTheCopy() throws Exception {
        InMemoryObjectStore source = expired();
        run(source, target);
        InMemoryObjectStore restored = new InMemoryObjectStore(CLOCK);
        run(target, restored);
        requireEqual(source, restored);
        append(restored, 9);
        requireClean(restored);
        assertThat(List.copyOf(chunks(restored))).contains(chunk(9));
    }
}

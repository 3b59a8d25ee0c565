package dev.stoker.export.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.read.ExportSelection;
import dev.stoker.export.read.ShardReader;
import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.schemas.testing.KeyPathVectors;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TreeOfFilesTest {

    @TempDir
    private Path directory;

    @Test
    void keysHaveThePathsOfTheVectorsInAnExport() throws IOException {
        export(KeyPathVectors.alone(), directory.resolve("alone"));
        export(KeyPathVectors.beside(), directory.resolve("beside"));
    }

    private static void export(Map<String, String> paths, Path target) throws IOException {
        ObjectStore store = new InMemoryObjectStore();
        Dataset dataset = Dataset.create(store, SampleDatasets.info());
        String[] keys = paths.keySet().toArray(String[]::new);
        var chunk = SampleDatasets.write(store, SampleDatasets.id(1), "i", "train", keys);
        List<String> classes = paths.keySet().stream()
                .map(key -> key.substring(0, Math.max(0, key.indexOf('/'))))
                .distinct()
                .toList();
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append("i", List.of(chunk), Map.of("label", classes), Map.of()));
        Snapshot snapshot = dataset.snapshot();
        Content content =
                new Content(new int[] {0, 2}, new ArrayList<>(List.of("key", "image")), "files", "none", null, null);
        Shard shard = new Shard("train", 0, 1, 0, keys.length);
        TargetLocation place = new TargetLocation(target.toString(), "id", TargetLocation.Existing.REFUSE);
        ExportWork work = new ExportWork(
                "memory", 1, content, new RowOrder.Stored(), new ArrayList<>(List.of(shard)), false, place);
        ExportSelection selection = ExportSelection.of(snapshot.info().fields(), content);
        ShardReader reader = ShardReader.of(store, snapshot, selection, work.order(), shard, 1 << 20);
        DirectoryPaths known = new DirectoryPaths(new ExportedKeys(dataset, snapshot));

        try (ObjectStore files = new LocalObjectStore(target);
                ShardOutput out = ShardOutput.open(work, shard, files, Tables.of(snapshot, content), known)) {
            for (RowBatch rows = reader.next(); rows != null; rows = reader.next()) {
                out.write(rows);
            }
            out.commit();
        }

        Map<String, String> expected = new TreeMap<>();
        paths.forEach((key, path) -> expected.put(path, "image of " + key));
        Map<String, String> written = new TreeMap<>();
        try (Stream<Path> files = Files.walk(target)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                written.put(target.relativize(file).toString(), Files.readString(file, StandardCharsets.UTF_8));
            }
        }
        assertThat(written).isEqualTo(expected);
    }
}

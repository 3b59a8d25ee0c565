package dev.stoker.sql.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.shared.SharedFlink;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs the statements of {@code docs/sql.md} one after the other. */
class RecipesITCase {

    private static final Pattern BLOCK = Pattern.compile("(?s)```sql\n(.*?)```");

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(4);

    @TempDir
    Path data;

    @Test
    void allStatementsOfThePageGiveTheResultsThatItPromises() throws Exception {
        createPhotos();
        Files.writeString(data.resolve("labels.csv"), "train/cat/1,lynx\ntrain/dog/2,wolf\nval/cat/3,\nnone,owl\n");
        TableEnvironment sql = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        sql.getConfig().set("parallelism.default", "2");
        sql.getConfig().setLocalTimeZone(ZoneOffset.UTC);
        List<List<String>> results = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(Files.readString(page()));
        while (blocks.find()) {
            for (String statement :
                    blocks.group(1).replace("/data/", data + "/").split(";\n")) {
                if (!statement.startsWith("SET")) {
                    results.add(run(sql, statement));
                }
            }
        }
        String all = results.toString();
        assertThat(results.get(2)).containsExactly("+I[photos]");
        // Versions: the first one by number, by tag, by a hint and by time.
        assertThat(results.subList(4, 8)).containsOnly(List.of("+I[4]"));
        // Class balance.
        assertThat(results.get(8))
                .containsExactlyInAnyOrder(
                        "+I[train, cat, 2]", "+I[train, dog, 1]", "+I[val, cat, 1]", "+I[val, eel, 1]");
        // Duplicates.
        assertThat(results.get(9)).containsExactly("+I[train/cat/1, train/cat/4]");
        assertThat(results.get(10)).singleElement().asString().endsWith(", 2, train/cat/1]");
        // Labels of a file.
        List<String> relabelled =
                run(sql, "SELECT label, CAST(image AS STRING), _version FROM lake.`default`.`relabelled$v1`");
        assertThat(relabelled).containsExactlyInAnyOrder("+I[lynx, image 1, 1]", "+I[wolf, image 2, 1]");
        // The export.
        StringBuilder cats = new StringBuilder();
        try (Stream<Path> files = Files.walk(data.resolve("cats"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                cats.append(Files.readString(file));
            }
        }
        assertThat(cats.toString().lines()).containsExactlyInAnyOrder("train/cat/1,cat", "train/cat/4,cat");
        // The table without a catalog.
        assertThat(results.get(results.size() - 3))
                .as(all)
                .containsExactlyInAnyOrder("+I[cat, train/cat/1, 0]", "+I[cat, train/cat/4, 0]");
        // The partition.
        assertThat(run(sql, "SELECT key, caption, _split FROM lake.`default`.`captions$v1`"))
                .containsExactlyInAnyOrder("+I[1, a cat, val]", "+I[2, an eel, val]");
    }

    private static List<String> run(TableEnvironment sql, String statement) throws Exception {
        return CollectionUtil.iteratorToList(sql.executeSql(statement).collect()).stream()
                .map(Row::toString)
                .toList();
    }

    /** Images 1 and 4 are equal. The second version, an hour after the first one, adds an eel. */
    private void createPhotos() throws IOException {
        DatasetInfo info = new DatasetInfo(
                UUID.randomUUID(),
                "photos",
                Instant.EPOCH,
                List.of(
                        Field.small("label", FieldType.parse("categorical")),
                        Field.payload("image", FieldType.parse("binary"))),
                Map.of());
        try (ObjectStore store = new LocalObjectStore(data.resolve("datasets/photos"))) {
            Dataset dataset = Dataset.create(store, info);
            PackedChunk train = write(store, info, "train", "cat/1", "dog/2", "cat/4");
            PackedChunk val = write(store, info, "val", "cat/3");
            commit(dataset, "2026-01-01T01:00:00Z", List.of(train, val));
            new Tags(dataset).set("best", 1, Tags.Mode.CREATE, InstantSource.system(), "ada@host");
            commit(dataset, "2026-01-01T02:00:00Z", List.of(write(store, info, "val", "eel/5")));
        }
    }

    private static PackedChunk write(ObjectStore store, DatasetInfo info, String split, String... samples)
            throws IOException {
        ChunkBuilder builder = new ChunkBuilder(info.fields(), 1 << 16);
        for (String sample : samples) {
            String[] parts = sample.split("/");
            builder.beginRow(split + "/" + sample);
            builder.setClass(0, parts[0]);
            String image = "image " + (parts[1].equals("4") ? "1" : parts[1]);
            builder.setBytes(1, ByteBuffer.wrap(image.getBytes(UTF_8)));
            builder.endRow();
        }
        UUID id = ChunkNames.newId(samples.length, new Random(samples[0].hashCode()));
        PackedChunk chunk = builder.finish(new ChunkIdentity(info.id(), id, "ingest", split, Instant.EPOCH));
        ChunkWrites.write(store, chunk);
        return chunk;
    }

    private static void commit(Dataset dataset, String time, List<PackedChunk> chunks) throws IOException {
        new VersionCommitter(dataset, InstantSource.fixed(Instant.parse(time)), "ada@host")
                .commit(VersionRequest.append(
                        "ingest-" + dataset.latestVersion(),
                        chunks.stream().map(PackedChunk::summary).toList(),
                        Map.of("label", List.of("cat", "dog", "eel")),
                        Map.of()));
    }

    /** The page, wherever in the repository the test runs. */
    private static Path page() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.exists(directory.resolve("docs/sql.md"))) {
            directory = directory.getParent();
        }
        return directory.resolve("docs/sql.md");
    }
}

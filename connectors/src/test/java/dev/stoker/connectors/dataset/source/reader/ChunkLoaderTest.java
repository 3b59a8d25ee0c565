package dev.stoker.connectors.dataset.source.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.EveryTypeDataset;
import dev.stoker.connectors.dataset.FieldFilter;
import dev.stoker.connectors.dataset.FieldFilter.Operator;
import dev.stoker.connectors.dataset.MeteredStores;
import dev.stoker.connectors.dataset.SampleTexts;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.ChunkSplitSerializer;
import dev.stoker.connectors.dataset.source.split.SourceChunk;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkLoaderTest {

    /** Reads heads whole, or column by column. */
    private static final List<Integer> WAYS = List.of(Integer.MAX_VALUE, 0);

    @TempDir
    Path directory;

    private static DatasetScan scan(Path path, List<String> columns, FieldFilter... filters) {
        return new DatasetScan(
                DatasetStore.BY_LOCATION, path.toString(), 0, columns, List.of(), List.of(), List.of(filters), 100);
    }

    private static SourceChunk chunk(ObjectStore store, int index) throws IOException {
        Snapshot newest = Dataset.open(store).snapshot();
        return new SourceChunk(
                newest.table().ordinal(index),
                newest.table().summary(index),
                newest.table().removedRows(index));
    }

    private List<String> lines(DatasetScan scan, int shortHead, int begin) throws IOException {
        try (ObjectStore store = MeteredStores.open(directory.toString())) {
            ChunkLoader.Loaded loaded =
                    new ChunkLoader(store, scan, shortHead).load(1, chunk(store, 0), begin, scan.limit());
            SampleTexts texts = new SampleTexts(scan.columns().size());
            List<String> lines = new ArrayList<>();
            for (int row : loaded.rows()) {
                lines.add(texts.deserialize(loaded.cursor().at(row)));
            }
            return lines;
        }
    }

    private static List<String> allColumns() {
        List<String> names = new ArrayList<>(List.of("key"));
        EveryTypeDataset.fields().stream().map(Field::name).forEach(names::add);
        return names;
    }

    @Test
    void bothWaysReadTheSameValuesOfEveryType() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 12);
        List<String> whole = lines(scan(directory, allColumns()), Integer.MAX_VALUE, 0);
        List<String> single = lines(scan(directory, allColumns()), 0, 0);
        assertThat(single).hasSize(12).isEqualTo(whole);
        assertThat(whole.get(5)).contains(" null ").doesNotContain("text");
        assertThat(whole.get(7))
                .startsWith("v1 0/7 train key-7 1 -93 93 93 7 207 60007 4000000007 -8 7.5 7.5 7.5 7.5 text ü 7 "
                        + SampleTexts.hex("bytes 7") + " dog 93 8 8 8 8 2 -1493 -1499994 -1499999994 -1499994 6.95 "
                        + "-12345678901234567890123456.0000000001 070000000800000009000000 ff07 ")
                .contains(" " + SampleTexts.hex(EveryTypeDataset.payload(7)) + " " + EveryTypeDataset.payload(7) + " ");
    }

    /** Gives each of the first rows the small fields of the row that is three rows further on. */
    private void updateAllSmallFields(int rows) throws IOException {
        try (ObjectStore store = MeteredStores.open(directory.toString())) {
            Dataset dataset = Dataset.open(store);
            ChunkHead head = ChunkHeads.read(store, dataset.snapshot().table(), 0);
            List<Field> small =
                    head.fields().stream().filter(field -> !field.payload()).toList();
            ChunkBuilder builder = new ChunkBuilder(small, 4096);
            for (int row = 0; row < rows; row++) {
                builder.beginRow(head.key(row));
                for (int f = 0; f < small.size(); f++) {
                    builder.setFrom(f, head, row + 3);
                }
                builder.endRow();
            }
            ByteBuffer file = ByteBuffer.allocate(1 << 16);
            builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                    .buffers()
                    .forEach(part -> file.put(part.duplicate()));
            NewValues values = new NewValues(small);
            values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
            new SampleUpdate(dataset, values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                    .commit("update", InstantSource.system(), "ada@host");
        }
    }

    @Test
    void bothWaysReadTheValuesOfAnOverlayOfEveryType() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 12);
        List<String> small = EveryTypeDataset.fields().stream()
                .filter(field -> !field.payload())
                .map(Field::name)
                .toList();
        List<String> before = lines(scan(directory, small), Integer.MAX_VALUE, 0);
        List<String> payload = lines(scan(directory, allColumns()), Integer.MAX_VALUE, 0);

        updateAllSmallFields(6);

        for (int way : WAYS) {
            List<String> after = lines(scan(directory, small), way, 0);
            for (int row = 0; row < 12; row++) {
                String values = before.get(row < 6 ? row + 3 : row);
                assertThat(after.get(row).replaceFirst("v1 0/\\d+ ", ""))
                        .isEqualTo(values.replaceFirst("v1 0/\\d+ ", ""));
            }
            List<String> all = lines(scan(directory, allColumns()), way, 0);
            assertThat(all.get(7)).isEqualTo(payload.get(7));
            assertThat(all.get(2)).startsWith("v1 0/2 train key-2 ").contains(EveryTypeDataset.payload(2));
        }
        try (ObjectStore store = MeteredStores.open(directory.toString())) {
            SourceChunk chunk = chunk(store, 0);
            ChunkSplit split = new ChunkSplit(2, List.of(chunk), 0);
            byte[] stored = ChunkSplitSerializer.INSTANCE.serialize(split);
            ChunkSplit restored = ChunkSplitSerializer.INSTANCE.deserialize(1, stored);
            assertThat(chunk.summary().overlay()).isNotNull();
            assertThat(restored.chunks().get(0).summary()).isEqualTo(chunk.summary());
        }
        FieldFilter moved = new FieldFilter("number", Operator.EQUAL, List.of(4L));
        for (int way : WAYS) {
            assertThat(lines(scan(directory, List.of("key"), moved), way, 0)).containsExactly("v1 0/1 train key-1");
        }
    }

    /** Adds a field to the dataset and gives one sample a class in it. */
    private void addField(Field field, String key, String name) throws IOException {
        try (ObjectStore store = MeteredStores.open(directory.toString())) {
            ChunkBuilder builder = new ChunkBuilder(List.of(field), 4096);
            builder.beginRow(key);
            builder.setClass(0, name);
            builder.endRow();
            ByteBuffer file = ByteBuffer.allocate(1 << 14);
            builder.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                    .buffers()
                    .forEach(part -> file.put(part.duplicate()));
            NewValues values = new NewValues(List.of(field), AddedFields.of(List.of(field)));
            values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
            new SampleUpdate(Dataset.open(store), values, SampleRule.MissingKeys.FAIL, 1, chunks -> {})
                    .commit("add", InstantSource.system(), "ada@host");
        }
    }

    @Test
    void bothWaysGiveNullInAnAddedFieldThatAChunkLacks() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 4);
        addField(Field.nullable("added", ScalarType.CATEGORICAL), "key-2", "new");
        DatasetScan scan = scan(directory, List.of("key", "added"));
        for (int way : WAYS) {
            assertThat(lines(scan, way, 0))
                    .containsExactly(
                            "v1 0/0 train key-0 null",
                            "v1 0/1 train key-1 null",
                            "v1 0/2 train key-2 new",
                            "v1 0/3 train key-3 null");
            FieldFilter isNew = new FieldFilter("added", Operator.EQUAL, List.of("new"));
            assertThat(lines(scan(directory, List.of("key"), isNew), way, 0)).containsExactly("v1 0/2 train key-2");
        }
        try (ObjectStore store = MeteredStores.open(directory.toString())) {
            SourceChunk chunk = chunk(store, 0);
            byte[] stored = ChunkSplitSerializer.INSTANCE.serialize(new ChunkSplit(2, List.of(chunk), 0));
            assertThat(ChunkSplitSerializer.INSTANCE
                            .deserialize(1, stored)
                            .chunks()
                            .get(0)
                            .summary())
                    .isEqualTo(chunk.summary());
            SourceChunk without =
                    new SourceChunk(chunk.ordinal(), chunk.summary().with((ChunkOverlay) null), chunk.removedRows());
            for (int way : WAYS) {
                ChunkLoader.Loaded loaded = new ChunkLoader(store, scan, way).load(1, without, 0, 4);
                String line = new SampleTexts(2).deserialize(loaded.cursor().at(2));
                assertThat(line).isEqualTo("v1 0/2 train key-2 null");
            }
        }
    }

    @Test
    void readsOnlyLiveRowsFromTheFirstOneOn() throws IOException {
        EveryTypeDataset dataset = EveryTypeDataset.create(directory);
        dataset.append("train", 1, 6);
        dataset.remove(0, 1, 4);
        for (int way : WAYS) {
            assertThat(lines(scan(directory, List.of("key")), way, 0))
                    .containsExactly(
                            "v1 0/0 train key-0", "v1 0/2 train key-2", "v1 0/3 train key-3", "v1 0/5 train key-5");
            assertThat(lines(scan(directory, List.of()), way, 3)).containsExactly("v1 0/3 train", "v1 0/5 train");
        }
    }

    @Test
    void filtersRowsByColumnsThatAreNotSelected() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 30);
        for (int way : WAYS) {
            assertThat(keys(way, new FieldFilter("f_categorical", Operator.EQUAL, List.of("eel"))))
                    .containsExactly(2, 8, 11, 14, 17, 23, 26, 29);
            assertThat(keys(
                            way,
                            new FieldFilter("f_categorical", Operator.IN, List.of("eel", "none")),
                            new FieldFilter("number", Operator.LESS, List.of(12L))))
                    .containsExactly(2, 8, 11);
            assertThat(keys(way, new FieldFilter("f_int8", Operator.IS_NULL, List.of())))
                    .containsExactly(0, 5, 10, 15, 20, 25);
            assertThat(keys(way, new FieldFilter("f_float64", Operator.GREATER_OR_EQUAL, List.of(28.5))))
                    .containsExactly(28, 29);
            assertThat(keys(way, new FieldFilter("key", Operator.EQUAL, List.of("key-7"))))
                    .containsExactly(7);
        }
    }

    private List<Integer> keys(int way, FieldFilter... filters) throws IOException {
        return lines(scan(directory, List.of("p_utf8"), filters), way, 0).stream()
                .map(line -> Integer.valueOf(line.substring(line.indexOf("payload-") + 8, line.indexOf("-ü"))))
                .toList();
    }

    @Test
    void readsOnlyTheBytesOfNamedColumns() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 20_000);
        String where = directory.toString();
        DatasetScan number = new DatasetScan(
                DatasetStore.BY_LOCATION, where, 0, List.of("number"), List.of(), List.of(), List.of(), 1 << 20);
        try (ObjectStore store = MeteredStores.open(where)) {
            SourceChunk chunk = chunk(store, 0);
            MeteredStores.take(where);
            assertThat(new ChunkLoader(store, number).load(1, chunk, 0, 1 << 20).rows())
                    .hasSize(20_000);
            assertThat(MeteredStores.take(where)).isBetween(160_000L, 200_000L);
            DatasetScan none = scan(directory, List.of());
            new ChunkLoader(store, none).load(1, chunk, 0, 1 << 20);
            assertThat(MeteredStores.take(where)).isZero();
            // One value of a payload field, with the places and checksums of all of them.
            DatasetScan one =
                    scan(directory, List.of("p_tensor"), new FieldFilter("number", Operator.EQUAL, List.of(7L)));
            assertThat(new ChunkLoader(store, one).load(1, chunk, 0, 100).rows())
                    .containsExactly(7);
            assertThat(MeteredStores.take(where)).isBetween(240_000L, 300_000L);
        }
    }

    @Test
    void namesTheRowOfDamagedPayload() throws IOException {
        EveryTypeDataset.create(directory).append("train", 1, 8);
        Path file;
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(directory.toString())) {
            file = directory.resolve(ChunkNames.path(chunk(store, 0).summary().id()));
        }
        byte[] content = Files.readAllBytes(file);
        String value = new String(content, StandardCharsets.ISO_8859_1);
        content[value.lastIndexOf("payload-3-")] ^= 1;
        Files.write(file, content);
        for (int way : WAYS) {
            assertThatThrownBy(() -> lines(scan(directory, List.of("p_utf8")), way, 0))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("CRC32C of p_utf8 in row 3");
            assertThat(lines(scan(directory, List.of("key")), way, 0)).hasSize(8);
        }
    }
}

package dev.stoker.metadata.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectRangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads the samples of versions: all of them, and single ones by key. */
final class Contents {

    private Contents() {}

    /** Reads every live row, and verifies its payload. */
    static Map<String, Sample> scan(Dataset dataset, Snapshot snapshot) throws IOException {
        Map<String, Sample> samples = new TreeMap<>();
        ChunkTable table = snapshot.table();
        for (int i = 0; i < table.size(); i++) {
            if (!table.isLive(i)) {
                continue;
            }
            ChunkHead head = ChunkHeads.read(dataset.store(), table, i);
            String file = ChunkNames.path(table.id(i));
            for (int row = 0; row < head.rows(); row++) {
                if (!table.isLive(i, row)) {
                    continue;
                }
                ChunkReader.verifySample(head, new ObjectRangeReader(dataset.store(), file), row);
                int image = field(head, "image");
                ByteBuffer payload = ByteBuffer.allocate(head.payloadLength(image, row));
                dataset.store().read(file, head.payloadPosition(image, row), payload);
                Sample sample = sample(head, row, table.split(i), payload.array());
                assertThat(snapshot.classes().id("label", sample.label())).isPresent();
                assertThat(samples.put(head.key(row), sample))
                        .as("a second sample of " + head.key(row))
                        .isNull();
            }
        }
        return samples;
    }

    private static int field(ChunkHead head, String name) {
        return head.fields().stream().map(Field::name).toList().indexOf(name);
    }

    private static Sample sample(ChunkHead head, int row, String split, byte[] image) {
        int label = field(head, "label");
        int score = field(head, "score");
        Optional<Long> value = Optional.empty();
        if (score >= 0) {
            ArrowColumn scores = head.column(score);
            value = scores.isNull(row) ? Optional.empty() : Optional.of(scores.longAt(row));
        }
        return new Sample(
                split,
                head.classes(label).get(head.column(label).intAt(row)),
                value,
                new String(image, StandardCharsets.UTF_8));
    }

    /** Demands that lookups of these keys, and a listing, have the samples. */
    static void compare(SampleIndex index, Map<String, Sample> expected, List<String> others) throws IOException {
        List<String> keys = new ArrayList<>(expected.keySet());
        keys.addAll(others);
        List<Optional<StoredSample>> found = index.get(keys);
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            Optional<Sample> sample = found.get(i).map(Contents::sample);
            assertThat(sample).as("lookup of " + key).isEqualTo(Optional.ofNullable(expected.get(key)));
            assertThat(index.stat(key).isPresent()).as("stat of " + key).isEqualTo(sample.isPresent());
        }
        List<String> listed = new ArrayList<>();
        SampleListing listing = index.list("", "");
        for (Optional<ListEntry> entry = listing.next(); entry.isPresent(); entry = listing.next()) {
            listed.add(entry.get().name());
        }
        assertThat(listed).isEqualTo(List.copyOf(expected.keySet()));
    }

    private static Sample sample(StoredSample stored) {
        ByteBuffer payload = stored.payload(field(stored.head(), "image"));
        byte[] image = new byte[payload.remaining()];
        payload.get(image);
        return sample(stored.head(), stored.row(), stored.stat().split(), image);
    }
}

package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stoker.formats.detection.Formats;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that pandas, TensorFlow, webdataset and mosaicml-streaming wrote; see generate.py. */
class RowwiseGoldenFilesTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "frame.jsonl",
                "frame.jsonl.gz",
                "frame.jsonl.zst",
                "table.csv",
                "table.tsv",
                "table.csv.gz",
                "shard.tar",
                "shard.tar.gz",
                "shard.tar.zst",
                "gnu.tar",
                "plain.tfrecord",
                "packed.tfrecord.gz",
                "mds/shard.00000.mds",
                "mds-zstd/shard.00000.mds.zstd",
                "mds-gz/shard.00000.mds.gz",
                "mds-snappy/shard.00000.mds.snappy"
            })
    void detectsAndReadsFilesOfOtherLibraries(String name) throws Exception {
        RowFormat format = Formats.detect(Rows.resource(name)).orElseThrow();
        JsonNode expected = JSON.readTree(Rows.bytes(name + ".expected.json"));

        try (RowFile file = format.open(Rows.resource(name), ReadLimits.DEFAULT)) {
            assertThat(JSON.valueToTree(Rows.columns(file)).toString())
                    .isEqualTo(expected.get("columns").toString());
            List<JsonNode> rows = Rows.nodes(file);
            assertThat(rows).hasSize(expected.get("rows").size());
            for (int i = 0; i < rows.size(); i++) {
                // Through text, so that a long and an int of the same value are equal.
                assertThat(JSON.readTree(rows.get(i).toString()))
                        .as("row %d", i)
                        .isEqualTo(JSON.readTree(expected.get("rows").get(i).toString()));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"frame.jsonl", "table.csv", "gnu.tar", "plain.tfrecord", "mds/shard.00000.mds"})
    void readsEachColumnAlone(String name) throws Exception {
        RowFormat format = Formats.detect(Rows.resource(name)).orElseThrow();
        try (RowFile file = format.open(Rows.resource(name), ReadLimits.DEFAULT)) {
            List<JsonNode> all = Rows.nodes(file);
            for (int c = 0; c < file.schema().columns().size(); c++) {
                List<JsonNode> alone = new ArrayList<>();
                try (RowReader reader = file.read(file.parts().get(0), new int[] {c})) {
                    while (reader.next()) {
                        alone.add(Rows.row(file, reader, new int[] {c}).get(0));
                    }
                }
                int column = c;
                assertThat(alone)
                        .containsExactlyElementsOf(
                                all.stream().map(row -> row.get(column)).toList());
            }
        }
    }
}

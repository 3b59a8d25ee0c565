package dev.stoker.examples;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.connectors.dataset.sink.StokerSink;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Packs a text file into a dataset: a Flink job of your own that writes samples. Each line is a label, a tab and a
 * text. A tenth of the texts, by their hashes, is in the split {@code val}.
 *
 * <pre> java -cp 'cli/target/dist/lib/*' examples/src/main/java/dev/stoker/examples/PackLines.java FILE DATASET</pre>
 */
public final class PackLines {
    private PackLines() {}

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        addTo(env, args[0], args[1]);
        env.execute("pack lines");
    }

    /** Adds the job to an environment. In streaming mode with checkpoints, it commits a version for each checkpoint. */
    static void addTo(StreamExecutionEnvironment env, String file, String dataset) throws IOException {
        FileSource<String> lines = FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(file))
                .build();
        StokerSink<String> sink = StokerSink.<String>builder()
                .setPath(dataset)
                .setDataset(describe(dataset))
                .setSerializer(new LineSerializer())
                .build();
        env.fromSource(lines, WatermarkStrategy.noWatermarks(), "lines")
                .filter(line -> line.indexOf('\t') > 0)
                .sinkTo(sink);
    }

    /** Returns the description of the dataset. The first sample creates a dataset that does not exist. */
    private static DatasetInfo describe(String location) throws IOException {
        try (ObjectStore store = DatasetStore.BY_LOCATION.open(location)) {
            Optional<Dataset> existing = Dataset.find(store);
            return existing.isPresent()
                    ? existing.get().info()
                    : new DatasetInfo(
                            UUID.randomUUID(),
                            "lines",
                            Instant.now().truncatedTo(ChronoUnit.MILLIS),
                            List.of(
                                    Field.small("label", ScalarType.CATEGORICAL),
                                    Field.payload("text", ScalarType.UTF8)),
                            Map.of());
        }
    }

    /** Field 0 is the label, field 1 the text. */
    private static final class LineSerializer implements SampleSerializer<String> {
        private static final long serialVersionUID = 1;

        @Override
        public void serialize(String line, ChunkBuilder sample) {
            int tab = line.indexOf('\t');
            sample.setClass(0, line.substring(0, tab));
            sample.setString(1, line.substring(tab + 1));
        }

        @Override
        public long size(String line) {
            return line.length();
        }

        @Override
        public String split(String line) {
            return Math.floorMod(line.hashCode(), 10) == 0 ? "val" : "train";
        }
    }
}

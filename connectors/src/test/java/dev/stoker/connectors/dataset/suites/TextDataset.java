package dev.stoker.connectors.dataset.suites;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.Sample;
import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.connectors.dataset.SampleSerializer;
import dev.stoker.connectors.dataset.sink.StokerSink;
import dev.stoker.connectors.dataset.source.StokerSource;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.testframe.external.ExternalSystemDataReader;
import org.apache.flink.connector.testframe.external.ExternalSystemSplitDataWriter;
import org.apache.flink.connector.testframe.external.sink.DataStreamSinkV2ExternalContext;
import org.apache.flink.connector.testframe.external.sink.TestingSinkSettings;
import org.apache.flink.connector.testframe.external.source.DataStreamSourceExternalContext;
import org.apache.flink.connector.testframe.external.source.TestingSourceSettings;

/**
 * A dataset of texts, as the external system of Flink's tests. What they call a split is a chunk.
 *
 * @param path the directory
 * @param info the description
 */
record TextDataset(Path path, DatasetInfo info)
        implements DataStreamSinkV2ExternalContext<String>, DataStreamSourceExternalContext<String> {

    static TextDataset in(Path parent) {
        UUID id = UUID.randomUUID();
        return new TextDataset(
                parent.resolve(id.toString()),
                new DatasetInfo(
                        id, "texts", Instant.EPOCH, List.of(Field.small("text", FieldType.parse("utf8"))), Map.of()));
    }

    private static final class Texts implements SampleSerializer<String>, SampleDeserializer<String> {
        private static final long serialVersionUID = 1;

        @Override
        public void serialize(String text, ChunkBuilder row) {
            row.setString(0, text);
        }

        @Override
        public long size(String text) {
            return text.length();
        }

        @Override
        public String deserialize(Sample sample) {
            return sample.stringAt(0);
        }

        @Override
        public TypeInformation<String> getProducedType() {
            return Types.STRING;
        }
    }

    @Override
    public Sink<String> createSink(TestingSinkSettings settings) {
        return StokerSink.<String>builder()
                .setPath(path.toString())
                .setDataset(info)
                .setSerializer(new Texts())
                .build();
    }

    @Override
    public Source<String, ?, ?> createSource(TestingSourceSettings settings) {
        return StokerSource.<String>builder()
                .setPath(path.toString())
                .setColumns("text")
                .setDeserializer(new Texts())
                .build();
    }

    @Override
    public ExternalSystemDataReader<String> createSinkDataReader(TestingSinkSettings settings) {
        return new Reader();
    }

    @Override
    public ExternalSystemSplitDataWriter<String> createSourceSplitDataWriter(TestingSourceSettings settings) {
        return new Writer();
    }

    @Override
    public List<String> generateTestData(TestingSinkSettings settings, long seed) {
        return texts("sample", seed);
    }

    @Override
    public List<String> generateTestData(TestingSourceSettings settings, int split, long seed) {
        return texts("split " + split, seed);
    }

    private static List<String> texts(String prefix, long seed) {
        List<String> texts = new ArrayList<>();
        Random random = new Random(seed);
        for (int i = 0; i < 100; i++) {
            texts.add(prefix + " " + i + " " + random.nextLong());
        }
        return texts;
    }

    @Override
    public TypeInformation<String> getProducedType() {
        return Types.STRING;
    }

    @Override
    public List<URL> getConnectorJarPaths() {
        return List.of();
    }

    @Override
    public void close() {}

    /** Reads each chunk once, from the first one on. */
    private final class Reader implements ExternalSystemDataReader<String> {
        private int next;

        @Override
        public List<String> poll(Duration timeout) {
            long end = System.nanoTime() + timeout.toNanos();
            List<String> texts = read();
            while (texts.isEmpty() && System.nanoTime() < end) {
                LockSupport.parkNanos(1_000_000);
                texts = read();
            }
            return texts;
        }

        private List<String> read() {
            List<String> texts = new ArrayList<>();
            try (ObjectStore store = DatasetStore.BY_LOCATION.open(path.toString())) {
                if (Dataset.find(store).isEmpty()) {
                    return texts;
                }
                Snapshot newest = Dataset.open(store).snapshot();
                for (; next < newest.table().size(); next++) {
                    ChunkHead head = ChunkHeads.read(store, newest.table(), next);
                    for (int row = 0; row < head.rows(); row++) {
                        texts.add(head.column(0).stringAt(row));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return texts;
        }

        @Override
        public void close() {}
    }

    /** Appends one chunk for each call. */
    private final class Writer implements ExternalSystemSplitDataWriter<String> {

        @Override
        public void writeRecords(List<String> records) {
            try (ObjectStore store = DatasetStore.BY_LOCATION.open(path.toString())) {
                Dataset dataset = Dataset.find(store).isEmpty() ? Dataset.create(store, info) : Dataset.open(store);
                ChunkBuilder builder = new ChunkBuilder(info.fields(), 1 << 16);
                for (String text : records) {
                    builder.beginRow(text);
                    builder.setString(0, text);
                    builder.endRow();
                }
                String ingest = UUID.randomUUID().toString();
                UUID id = ChunkNames.newId(0, new Random(ingest.hashCode()));
                PackedChunk chunk = builder.finish(new ChunkIdentity(info.id(), id, ingest, "train", Instant.EPOCH));
                ChunkWrites.write(store, chunk);
                new VersionCommitter(dataset, Clock.systemUTC(), "ada@host")
                        .commit(VersionRequest.append(ingest, List.of(chunk.summary()), Map.of(), Map.of()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {}
    }
}

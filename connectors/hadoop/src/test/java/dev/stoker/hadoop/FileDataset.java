package dev.stoker.hadoop;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/** A dataset of images, and file systems that read it. */
final class FileDataset implements AutoCloseable {

    private final ObjectStore store;
    private final String location;
    private final Dataset dataset;
    private int chunks;

    FileDataset(Path directory) throws IOException {
        this(Stores.open(directory.toString()), directory.toString());
    }

    FileDataset(ObjectStore store, String location) throws IOException {
        this.store = store;
        this.location = location;
        this.dataset = Dataset.create(store, SampleDatasets.info());
    }

    Dataset dataset() {
        return dataset;
    }

    /** Commits a version with one more chunk, whose samples have their keys as the contents. */
    FileDataset append(String split, String... keys) throws IOException {
        Map<String, byte[]> images = new LinkedHashMap<>();
        for (String key : keys) {
            images.put(key, key.getBytes(StandardCharsets.UTF_8));
        }
        return append(split, images);
    }

    /** Commits a version with one more chunk. */
    FileDataset append(String split, Map<String, byte[]> images) throws IOException {
        String ingest = "ingest-" + chunks;
        ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(chunks++), ingest, split, images);
        commit(VersionRequest.append(ingest, List.of(chunk), Map.of(), Map.of()));
        return this;
    }

    /** Commits a version with one more sample, in a chunk with all fields of the version before. */
    FileDataset appendWithAllFields(String key) throws IOException {
        String ingest = "ingest-" + chunks;
        Map<String, byte[]> images = Map.of(key, key.getBytes(StandardCharsets.UTF_8));
        List<Field> fields = dataset.snapshot().info().fields();
        ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(chunks++), ingest, "train", images, fields);
        commit(VersionRequest.append(ingest, List.of(chunk), Map.of(), Map.of()));
        return this;
    }

    void remove(String... keys) throws IOException {
        commit(VersionRequest.remove(
                "remove-" + dataset.latestVersion(), SampleRemoval.ofKeys(dataset, List.of(keys)), Map.of()));
    }

    private void commit(VersionRequest request) throws IOException {
        SampleDatasets.committer(dataset).commit(request);
    }

    /** Settings with the dataset under the name {@code photos}. */
    Configuration conf(String... settings) {
        Configuration conf = new Configuration();
        conf.set("fs.stoker.dataset.photos", location);
        for (int i = 0; i < settings.length; i += 2) {
            conf.set(settings[i], settings[i + 1]);
        }
        return conf;
    }

    StokerFileSystem open(String... settings) throws IOException {
        return open(URI.create("stoker://photos"), conf(settings));
    }

    /** A file system that reads the store of this dataset, wherever its settings say that it is. */
    StokerFileSystem open(URI uri, Configuration conf) throws IOException {
        StokerFileSystem fileSystem = new StokerFileSystem() {
            @Override
            SampleTree open(FileSystemSettings settings) throws IOException {
                return SampleTree.open(store, settings);
            }
        };
        fileSystem.initialize(uri, conf);
        return fileSystem;
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}

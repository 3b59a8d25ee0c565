package dev.stoker.mount;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.mount.tree.DirectoryListing;
import dev.stoker.mount.tree.Listed;
import dev.stoker.mount.tree.MountTree;
import dev.stoker.mount.tree.MountedDataset;
import dev.stoker.mount.tree.Node;
import dev.stoker.mount.tree.OpenSample;
import dev.stoker.mount.tree.TreeOptions;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** Datasets to be mounted, and a reader of whole trees, for tests. */
public final class TestMount {

    /** The time of the first version; each later version is a minute younger. */
    public static final Instant FIRST = Instant.parse("2026-11-20T10:00:00.123Z");

    private final ObjectStore store;
    private final Dataset dataset;
    private int chunks;
    private int versions;

    public TestMount(ObjectStore store) throws IOException {
        this.store = store;
        this.dataset = Dataset.create(store, SampleDatasets.info());
    }

    public Dataset dataset() {
        return dataset;
    }

    /** Commits a version with one more chunk. */
    public void append(Map<String, byte[]> chunk) throws IOException {
        append(List.of(chunk));
    }

    /** Commits a version with two more chunks. */
    public void append(Map<String, byte[]> first, Map<String, byte[]> second) throws IOException {
        append(List.of(first, second));
    }

    private void append(List<Map<String, byte[]>> added) throws IOException {
        String ingest = "append-" + ++versions;
        TreeSet<String> classes = new TreeSet<>();
        commit(VersionRequest.append(ingest, write(ingest, classes, added), classes(classes), Map.of()));
    }

    /** Commits a version with one more chunk, which has the fields of the newest version. */
    public void appendWithAllFields(Map<String, byte[]> images) throws IOException {
        String ingest = "append-" + ++versions;
        List<Field> fields = dataset.snapshot().info().fields();
        ChunkSummary chunk = SampleDatasets.write(store, SampleDatasets.id(++chunks), ingest, "train", images, fields);
        commit(VersionRequest.append(ingest, List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
    }

    /** Commits a version with one other chunk. */
    public void replace(Map<String, byte[]> chunk) throws IOException {
        String ingest = "replace-" + ++versions;
        TreeSet<String> classes = new TreeSet<>();
        commit(VersionRequest.replace(ingest, write(ingest, classes, List.of(chunk)), classes(classes), Map.of()));
    }

    private static Map<String, List<String>> classes(TreeSet<String> names) {
        return Map.of("label", List.copyOf(names));
    }

    private List<ChunkSummary> write(String ingest, TreeSet<String> classes, List<Map<String, byte[]>> added)
            throws IOException {
        List<ChunkSummary> written = new ArrayList<>();
        for (Map<String, byte[]> images : added) {
            images.keySet().forEach(key -> classes.add(key.substring(0, Math.max(0, key.indexOf('/')))));
            written.add(SampleDatasets.write(store, SampleDatasets.id(++chunks), ingest, "train", images));
        }
        return written;
    }

    private void commit(VersionRequest request) throws IOException {
        Instant time = FIRST.plusSeconds(60L * (versions - 1));
        new VersionCommitter(dataset, () -> time, "ada@host").commit(request);
    }

    /** Returns images whose content follows from their keys. */
    public static Map<String, byte[]> images(String... keys) {
        Map<String, byte[]> images = new LinkedHashMap<>();
        for (String key : keys) {
            images.put(key, ("image of " + key).getBytes(StandardCharsets.UTF_8));
        }
        return images;
    }

    /** Opens a tree of one dataset. The tree closes the store. */
    public static MountTree open(ObjectStore store, OptionalLong version, TreeOptions options) throws IOException {
        return MountTree.open(UUID.randomUUID(), List.of(new MountedDataset("", store, version, null)), options);
    }

    /** Returns the entries of a directory, directories with a slash, in the order of the listing. */
    public static List<String> list(MountTree tree, String path) throws IOException {
        List<String> names = new ArrayList<>();
        Node.Directory directory = (Node.Directory) tree.find(path).orElseThrow();
        try (DirectoryListing listing = directory.list()) {
            for (Optional<Listed> next = listing.next(); next.isPresent(); next = listing.next()) {
                names.add(next.get().name() + (next.get().isDirectory() ? "/" : ""));
            }
        }
        return names;
    }

    /** Returns the content of each file by path. Checks that listing, attributes and content agree. */
    public static Map<String, String> readAll(MountTree tree, String path) throws IOException {
        Map<String, String> files = new TreeMap<>();
        for (String name : list(tree, path)) {
            String below = (path.equals("/") ? "" : path) + "/" + name;
            if (name.endsWith("/")) {
                files.putAll(readAll(tree, below.substring(0, below.length() - 1)));
            } else {
                files.put(below, new String(read(tree, below), StandardCharsets.UTF_8));
            }
        }
        return files;
    }

    /** Returns the content of a file. */
    public static byte[] read(MountTree tree, String path) throws IOException {
        Node.File file = (Node.File) tree.find(path).orElseThrow();
        try (OpenSample open = file.open()) {
            ByteBuffer content = ByteBuffer.allocate((int) file.size() + 1);
            int bytes = open.read(0, content);
            if (bytes != file.size() || open.size() != file.size()) {
                throw new IOException(path + " has " + bytes + " bytes instead of " + file.size());
            }
            byte[] exact = new byte[bytes];
            content.flip().get(exact);
            return exact;
        }
    }
}

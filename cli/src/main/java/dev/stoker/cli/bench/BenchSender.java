package dev.stoker.cli.bench;

import dev.stoker.bench.feed.FeedResult;
import dev.stoker.bench.feed.PlainSender;
import dev.stoker.bench.feed.PlainStream;
import dev.stoker.bench.measure.Machine;
import dev.stoker.cli.output.ScratchDirectory;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The sending process of a plain stream: of the chunks of a dataset on this machine, or of bytes in memory. For one
 * thread.
 */
final class BenchSender implements AutoCloseable {

    /** A mapping costs address space only, but a file costs time at the start. */
    private static final int MOST_FILES = 4096;

    private final Path directory;
    private final List<String> arguments;

    private BenchSender(Path directory, List<String> arguments) {
        this.directory = directory;
        this.arguments = arguments;
    }

    /** @param target a stream of {@code stoker feed}, or anything else for bytes in memory */
    static BenchSender of(String target) throws IOException {
        Path directory = Files.createTempDirectory("stoker-bench-");
        // The stream must not wait for the disk.
        List<String> files = chunks(target, Machine.availableBytes() / 2);
        if (files.isEmpty()) {
            return new BenchSender(directory, List.of());
        }
        Path list = Files.write(directory.resolve("files"), files);
        return new BenchSender(directory, List.of(list.toString()));
    }

    /**
     * Returns files of chunks; none if they are not on this machine.
     *
     * @param mostBytes of all files, but one file can have more
     */
    static List<String> chunks(String target, long mostBytes) throws IOException {
        String dataset = FeedResult.dataset(target);
        if (!Files.isDirectory(Path.of(dataset))) {
            return List.of();
        }
        List<String> files = new ArrayList<>();
        long bytes = 0;
        try (OpenDataset open = OpenDataset.open(dataset)) {
            Snapshot snapshot = open.dataset().snapshot();
            ObjectStore store = open.dataset().store();
            for (int chunk = 0; chunk < snapshot.table().size() && files.size() < MOST_FILES; chunk++) {
                Optional<Path> file =
                        store.localPath(ChunkNames.path(snapshot.table().id(chunk)));
                if (snapshot.table().isLive(chunk) && file.isPresent()) {
                    bytes += snapshot.table().length(chunk);
                    if (bytes > mostBytes && !files.isEmpty()) {
                        break;
                    }
                    files.add(file.get().toString());
                }
            }
        }
        return files;
    }

    PlainStream start() throws IOException {
        List<String> command = new ArrayList<>(BenchFeeder.DEAF);
        command.addAll(BenchFeeder.java());
        // Bytes in memory are outside of the heap.
        command.addAll(command.size() - 2, List.of("-XX:MaxDirectMemorySize=320m", "-Xmx128m"));
        command.add(PlainSender.class.getName());
        command.addAll(arguments);
        return new PlainStream(new ProcessBuilder(command), directory);
    }

    @Override
    public void close() {
        ScratchDirectory.remove(directory);
    }
}

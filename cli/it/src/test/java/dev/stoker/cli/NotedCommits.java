package dev.stoker.cli;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A process that commits versions beside others, and notes each: {@code name count notes location}. It continues behind
 * its last note, so it can be killed and started again.
 */
final class NotedCommits {

    private NotedCommits() {}

    public static void main(String[] args) throws IOException {
        String name = args[0];
        Path notes = Path.of(args[2]);
        int done = Files.exists(notes) ? Files.readAllLines(notes).size() : 0;
        try (ObjectStore store = Stores.open(args[3]);
                FileChannel file = FileChannel.open(notes, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            VersionCommitter committer = new VersionCommitter(Dataset.open(store), Clock.systemUTC(), name);
            for (int number = done; number < Integer.parseInt(args[1]); number++) {
                String ingest = name + "-" + number;
                ChunkSummary chunk = SampleDatasets.write(
                        store,
                        ChunkNames.newId(System.currentTimeMillis(), new Random()),
                        ingest,
                        "train",
                        name + "/" + number);
                Commit commit = committer.commit(
                        VersionRequest.append(ingest, List.of(chunk), Map.of("label", List.of(name)), Map.of()));
                String note = ingest + " " + commit.version() + " " + System.currentTimeMillis() + "\n";
                file.write(ByteBuffer.wrap(note.getBytes(StandardCharsets.US_ASCII)));
                file.force(true);
            }
        }
    }
}

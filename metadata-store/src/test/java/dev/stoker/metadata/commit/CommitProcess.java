package dev.stoker.metadata.commit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.SteppedStores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A process that ingests.
 *
 * <p>{@code contend DIRECTORY NAME COMMITS}: waits for a line on standard input, then runs this number of ingests, one
 * after the other.
 *
 * <p>{@code step DIRECTORY NAME STEP}: runs one ingest. Before the change of the file system with this number, it
 * writes a line and waits until it is killed.
 */
final class CommitProcess {

    private CommitProcess() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[1]);
        String name = args[2];
        int number = Integer.parseInt(args[3]);
        if (args[0].equals("contend")) {
            System.out.println("ready");
            System.in.read();
            try (ObjectStore store = new LocalObjectStore(directory)) {
                for (int n = 0; n < number; n++) {
                    ingest(store, name + "-" + n, name + "-class-" + n % 3);
                }
            }
        } else {
            try (ObjectStore store = SteppedStores.open(directory, step -> {
                if (step == number) {
                    waitToBeKilled();
                }
            })) {
                ingest(store, name, "x");
            }
        }
        System.out.println("done");
    }

    private static void waitToBeKilled() {
        System.out.println("waiting");
        try {
            System.in.read();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException("Not killed");
    }

    private static void ingest(ObjectStore store, String ingest, String label) throws IOException {
        UUID id = UUID.nameUUIDFromBytes(ingest.getBytes(StandardCharsets.UTF_8));
        ChunkSummary chunk = SampleDatasets.write(store, id, ingest, "train", label + "/" + ingest);
        new VersionCommitter(Dataset.open(store), InstantSource.system(), ingest, new TablePolicy(3, 1000))
                .commit(VersionRequest.append(ingest, List.of(chunk), Map.of("label", List.of(label)), Map.of()));
    }
}

package dev.stoker.cli;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;

/** A process that commits versions concurrently with others: {@code name count location…}. */
final class CommitContender {

    private CommitContender() {}

    public static void main(String[] args) throws IOException {
        for (String location : List.of(args).subList(2, args.length)) {
            try (ObjectStore store = Stores.open(location)) {
                VersionCommitter committer = new VersionCommitter(Dataset.open(store), Clock.systemUTC(), "test");
                for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                    committer.commit(new VersionRequest(
                            args[0] + "-" + i,
                            Operation.INGEST,
                            List.of(),
                            Removal.NOTHING,
                            Map.of(),
                            Map.of("by", args[0])));
                }
            }
        }
    }
}

package dev.stoker.feeder.plan;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.LocalErrors;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Where a feed's ledger lies: where it was asked for, or else in the first stream's dataset. */
final class LedgerLocation {

    private LedgerLocation() {}

    /**
     * The ledger's location.
     *
     * @throws IOException if it cannot be written to
     */
    static String require(Optional<String> given, FeedPlan.Stream first, UUID feed) throws IOException {
        String location =
                Stores.normalize(given.orElseGet(() -> first.path() + "/" + DatasetLayout.FEEDS + feed + "/ledger"));
        if (Stores.isRemote(location)) {
            requireWritable(location);
        } else {
            requireWritable(Stores.local(location));
        }
        return location;
    }

    /**
     * Makes sure that a following feed can write down which version an epoch reads.
     *
     * @throws IOException if it cannot
     */
    static void requireChoices(List<FeedPlan.Stream> streams, UUID feed) throws IOException {
        for (FeedPlan.Stream stream : streams) {
            String location = stream.path() + "/" + DatasetLayout.FEEDS + feed + "/epochs";
            try {
                requireWritableAt(location);
            } catch (IOException e) {
                throw new IOException(
                        "stream " + stream.name() + ": --follow keeps the version of each epoch in " + location
                                + ", which cannot be written: " + e.getMessage()
                                + "; make it writable, or feed one version without --follow",
                        e);
            }
        }
    }

    private static void requireWritableAt(String location) throws IOException {
        if (Stores.isRemote(location)) {
            probe(location);
        } else {
            Path directory = Files.createDirectories(Stores.local(location));
            if (!Files.isWritable(directory)) {
                throw new IOException("permission denied");
            }
        }
    }

    private static void requireWritable(Path directory) throws IOException {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw unwritable(directory.toString(), LocalErrors.reason(e), e);
        }
        if (!Files.isWritable(directory)) {
            throw unwritable(directory.toString(), "permission denied", null);
        }
    }

    private static StokerException unwritable(String location, String reason, @Nullable Throwable cause) {
        return new StokerException(
                "the ledger cannot be written to " + location + ": " + reason
                        + "; give another directory or URI with --ledger PLACE",
                cause);
    }

    /** A store tells by being written to, and only then. */
    private static void requireWritable(String location) throws IOException {
        try {
            probe(location);
        } catch (IOException e) {
            throw unwritable(location, ErrorText.of(e), e);
        }
    }

    private static void probe(String location) throws IOException {
        String probe = "probe-" + UUID.randomUUID();
        try (ObjectStore store = Stores.open(location)) {
            store.createIfAbsent(probe, new byte[] {1});
            store.delete(probe);
        }
    }
}

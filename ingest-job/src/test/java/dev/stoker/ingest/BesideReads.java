package dev.stoker.ingest;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.copy.CopyResult;
import dev.stoker.metadata.copy.CopyRule;
import dev.stoker.metadata.copy.DatasetCopy;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.metadata.verify.VerificationReport;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** The operations of {@link BesideOperations} that change nothing in the dataset, beyond marking what they read. */
final class BesideReads {
    private static final EpochChoice.Pass PASS = new EpochChoice.Pass(new UUID(1, 2), "train", "default");

    private BesideReads() {}

    /** Copies to another store, in which a reader sees whole versions. */
    static void copy(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        InMemoryObjectStore target = new InMemoryObjectStore(SampleDatasets.CLOCK);
        CopyRule rule = new CopyRule(OptionalLong.empty(), 1, Set.of());
        CopyResult result = new DatasetCopy(
                        Dataset.open(store), target, rule, SampleDatasets.CLOCK, slot.ingest(), SampleDatasets.IGNORING)
                .run();
        BesideState.check(target);
        if (!result.isComplete()) {
            // Only an erasure may delete a chunk beside a copy.
            throw new NoSuchObjectException(result.problems().toString());
        }
    }

    /** Reads the newest version as a feeder does, however many versions are committed and expired meanwhile. */
    static void feed(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        UUID feed = UUID.fromString(slot.ingest());
        VersionUses uses = new VersionUses(dataset);
        long version = dataset.snapshot().version();
        try {
            uses.take(version, feed, SampleDatasets.CLOCK, "ada@host");
        } catch (ExpiredVersionException e) {
            // The feeder chooses a newer one.
            return;
        }
        BesideState.keys(store, dataset.snapshot(version));
        uses.release(feed);
    }

    static void read(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        Snapshot newest = dataset.snapshot();
        Set<String> keys = BesideState.keys(store, newest);
        if (!BesideState.keys(store, dataset.snapshot(newest.version())).equals(keys)) {
            throw new AssertionError("Version " + newest.version() + " has changed");
        }
    }

    static void follow(ObjectStore store, BesideOperations.Slot slot) throws IOException {
        EpochVersions versions = new EpochVersions(Dataset.open(store), PASS, SampleDatasets.CLOCK);
        long first = versions.choose(0, OptionalLong.empty(), version -> {});
        long second = versions.choose(1, OptionalLong.empty(), version -> {});
        if (second < first || versions.choose(0, OptionalLong.empty(), version -> {}) != first) {
            throw new AssertionError("Epoch 0 has version " + first + ", epoch 1 has " + second);
        }
    }

    static void verify(ObjectStore store, BesideOperations.Slot slot) throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(store);
        VerificationReport report = new Verification(dataset, Runnable::run, 1, bytes -> {}).run(dataset.snapshot());
        if (!report.problems().isEmpty()) {
            throw new CorruptDataException(report.problems().toString());
        }
    }
}

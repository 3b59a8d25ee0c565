package dev.stoker.ingest;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.dataset.sink.committer.CommitDrivers;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.TagExistsException;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionFailedException;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.erasure.ErasureBlockedException;
import dev.stoker.metadata.erasure.ErasureFiles;
import dev.stoker.metadata.erasure.ErasurePlan;
import dev.stoker.metadata.erasure.ErasurePlanner;
import dev.stoker.metadata.erasure.ErasureRun;
import dev.stoker.metadata.erasure.ErasureWork;
import dev.stoker.metadata.erasure.UnerasableKeyException;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.NothingToExpireException;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.lease.LeaseHeldException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.removal.UnknownKeyException;
import dev.stoker.metadata.update.NothingToUpdateException;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * The table of all operations that can run at once on a dataset. A new operation is one line in {@link #table}: its
 * name, the failures that another operation may cause, and its implementation with the production classes. {@link
 * EverythingBesideEverythingTest} runs each operation concurrently with each other one and with itself.
 */
final class BesideOperations {

    /** A line of the table. */
    record Line(String name, Set<Class<? extends Throwable>> refusals, Work work) {

        /** Whether the failure is one that the operation may end with. */
        boolean mayEndWith(Throwable failure) {
            for (Throwable t = failure; t != null; t = t.getCause()) {
                for (Class<? extends Throwable> refusal : refusals) {
                    if (refusal.isInstance(t)) {
                        return true;
                    }
                }
            }
            return false;
        }
    }

    /** What an operation does. */
    interface Work {
        void run(ObjectStore store, Slot slot) throws Exception;
    }

    /**
     * One of the two at work.
     *
     * @param ingest its ingest id
     * @param other the other's ingest id
     * @param chunk number of its first chunk
     */
    record Slot(String ingest, String other, int chunk) {
        static final List<Slot> BOTH =
                List.of(new Slot(BesideState.A, BesideState.B, 10), new Slot(BesideState.B, BesideState.A, 20));

        /** The directory of its files. */
        String source() {
            return ingest.substring(0, 1);
        }
    }

    private final BesideIngests ingests;

    /** @param sources has a directory {@code a} and a directory {@code b} of one file each, to be ingested */
    BesideOperations(Path sources) {
        ingests = new BesideIngests(sources);
    }

    List<Line> table() {
        Set<Class<? extends Throwable>> ended = Set.of(AbandonedException.class);
        Set<Class<? extends Throwable>> first =
                Set.of(AbandonedException.class, InvalidIngestException.class, LeaseHeldException.class);
        Set<Class<? extends Throwable>> reader = Set.of(NotADatasetException.class, UnknownVersionException.class);
        return List.of(
                new Line("ingest", first, (store, slot) -> ingests.ingest(store, slot, IngestRun.Effect.CREATE)),
                new Line(
                        "append",
                        ended,
                        (store, slot) -> ingests.ingest(store, slot, IngestRun.Effect.APPEND, "--append")),
                new Line(
                        "replace",
                        ended,
                        (store, slot) -> ingests.ingest(store, slot, IngestRun.Effect.REPLACE, "--replace")),
                new Line("append replacing", ended, ingests::appendReplacing),
                new Line("sync", ended, ingests::sync),
                new Line("append twice", ended, this::appendTwice),
                new Line("parts", ended, BesideOperations::parts),
                new Line(
                        "topic",
                        Set.of(AbandonedException.class, CommitRefusedException.class),
                        BesideOperations::topic),
                new Line(
                        "remove",
                        Set.of(UnknownKeyException.class, NotADatasetException.class, AbandonedException.class),
                        BesideOperations::remove),
                new Line(
                        "update",
                        Set.of(
                                UnknownKeyException.class,
                                NotADatasetException.class,
                                UnknownVersionException.class,
                                NothingToUpdateException.class,
                                AbandonedException.class),
                        BesideUpdates::update),
                new Line(
                        "tag",
                        Set.of(NotADatasetException.class, UnknownVersionException.class, TagExistsException.class),
                        BesideOperations::tag),
                new Line(
                        "compact",
                        Set.of(
                                CompactionFailedException.class,
                                AbandonedException.class,
                                NotADatasetException.class,
                                UnknownVersionException.class),
                        BesideOperations::compact),
                new Line(
                        "expire",
                        Set.of(
                                NotADatasetException.class,
                                UnknownVersionException.class,
                                NothingToExpireException.class,
                                AbandonedException.class),
                        BesideOperations::expire),
                new Line(
                        "erase",
                        Set.of(
                                NotADatasetException.class,
                                UnknownVersionException.class,
                                UnerasableKeyException.class,
                                ErasureBlockedException.class,
                                AbandonedException.class),
                        BesideOperations::erase),
                new Line("feed", reader, BesideReads::feed),
                new Line(
                        "gc",
                        reader,
                        (store, slot) -> GarbageCollection.plan(
                                        Dataset.open(store), Duration.ZERO, SampleDatasets.CLOCK)
                                .apply()),
                new Line(
                        "gc --break",
                        reader,
                        (store, slot) ->
                                GarbageCollection.end(Dataset.open(store), slot.other, SampleDatasets.CLOCK, "eve")),
                new Line(
                        "recover",
                        reader,
                        (store, slot) -> Recovery.plan(store, "eve").apply()),
                new Line("copy", reader, BesideReads::copy),
                new Line("read", reader, BesideReads::read),
                new Line("follow", reader, BesideReads::follow),
                new Line("verify", reader, BesideReads::verify));
    }

    private void appendTwice(ObjectStore store, Slot slot) throws IOException {
        ingests.ingest(store, slot, IngestRun.Effect.APPEND, "--append");
        Dataset dataset = Dataset.open(store);
        String second = slot.ingest + "-2";
        Leases leases = new Leases(dataset);
        leases.take(second, SampleDatasets.CLOCK, "ada@host", "");
        ChunkSummary chunk =
                BesideState.chunk(store, dataset.info(), slot.chunk + 1, second, BesideState.KEYS.get(second));
        SampleDatasets.committer(dataset).commit(BesideState.append(second, chunk));
        leases.release(second);
    }

    /** As {@code stoker.commit} does with the parts of two writers; the log entry is of neither. */
    private static void parts(ObjectStore store, Slot slot) throws IOException {
        Dataset dataset = openOrCreate(store);
        Leases leases = new Leases(dataset);
        VersionCommitter committer = SampleDatasets.committer(dataset);
        if (committer.find(slot.ingest).isPresent()) {
            return;
        }
        String part = slot.ingest + "-part";
        leases.take(part, SampleDatasets.CLOCK, "ada@host", "");
        ChunkSummary chunk =
                BesideState.chunk(store, dataset.info(), slot.chunk, part, BesideState.KEYS.get(slot.ingest));
        committer.commit(new VersionRequest(
                slot.ingest,
                Operation.INGEST,
                List.of(chunk),
                Removal.NOTHING,
                Map.of("label", BesideState.labels(slot.ingest)),
                Map.of(),
                List.of(part)));
        leases.release(part);
    }

    /** A separate topic for each slot; two versions of one topic at once are refused by their positions. */
    private static void topic(ObjectStore store, Slot slot) throws IOException {
        Dataset dataset = openOrCreate(store);
        long newest = dataset.latestVersion();
        TreeMap<Integer, Long> nowhere = new TreeMap<>();
        TopicPosition position = new TopicPosition("topic-" + slot.ingest, "id", "cluster", nowhere);
        Optional<TopicPosition> found = TopicPosition.find(dataset, dataset.latest(), position.topic());
        if (found.isPresent()) {
            return;
        }
        Leases leases = new Leases(dataset);
        leases.take(slot.ingest, SampleDatasets.CLOCK, "ada@host", "");
        ChunkSummary chunk =
                BesideState.chunk(store, dataset.info(), slot.chunk, slot.ingest, BesideState.KEYS.get(slot.ingest));
        CommitDrivers.stream(
                new TopicRun(
                        target -> store,
                        "/beside",
                        dataset.info().id().toString(),
                        slot.ingest,
                        position,
                        nowhere,
                        new TopicRun.Limits(() -> {}, TopicRun.Keys.OFFSETS, newest, 0)),
                slot.ingest + "-1",
                List.of(chunk),
                BesideState.labels(slot.ingest),
                nowhere,
                new TreeMap<>(Map.of(0, 1L)));
        leases.release(slot.ingest);
    }

    private static Dataset openOrCreate(ObjectStore store) throws IOException {
        Optional<Dataset> found = Dataset.find(store);
        if (found.isPresent()) {
            return found.get();
        }
        try {
            return Dataset.create(store, SampleDatasets.info());
        } catch (DatasetExistsException e) {
            return Dataset.open(store);
        }
    }

    /** Writes chunk tables, too. */
    private static void remove(ObjectStore store, Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        new VersionCommitter(dataset, SampleDatasets.CLOCK, "ada@host", new TablePolicy(1, 1))
                .commit(VersionRequest.remove(slot.ingest, SampleRemoval.ofKeys(dataset, List.of("k/2")), Map.of()));
    }

    private static void tag(ObjectStore store, Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        Tags tags = new Tags(dataset);
        tags.set("kept", dataset.snapshot().version(), Tags.Mode.MOVE, SampleDatasets.CLOCK, slot.ingest);
        if (tags.find("kept").isEmpty()) {
            throw new AssertionError("The tag is gone");
        }
    }

    /** Expires all versions but the newest, and deletes their chunks. */
    private static void expire(ObjectStore store, Slot slot) throws IOException {
        Dataset dataset = Dataset.open(store);
        Expiry.Rule rule = new Expiry.Rule(Optional.empty(), OptionalLong.of(1));
        Expiry expiry = Expiry.plan(dataset, rule, SampleDatasets.CLOCK);
        if (!expiry.ranges().isEmpty()) {
            expiry.commit(slot.ingest, "ada@host");
        }
        GarbageCollection.plan(dataset, Duration.ZERO, SampleDatasets.CLOCK).apply();
    }

    /** As the command does it: finishes an interrupted erasure first. */
    private static void erase(ObjectStore store, Slot slot) throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(store);
        ErasureWork work = new ErasureWork(
                new CompactionRules(1 << 20, 1 << 20, OptionalLong.empty()),
                new CompactionThreads(1, 1, 1 << 24),
                BuildThreads.ofCaller(),
                SampleDatasets.CLOCK,
                "ada@host",
                chunks -> {});
        ErasureRun run = new ErasureRun(dataset, work);
        Optional<Erasure> last = Optional.empty();
        for (Erasure unfinished : new ErasureFiles(dataset).unfinished()) {
            last = Optional.of(run.finish(unfinished));
        }
        SampleRule rule = SampleRule.ofKeys(List.of(BesideState.ERASED));
        ErasurePlan plan = new ErasurePlanner(dataset, work).plan(rule, last);
        if (!plan.isEmpty()) {
            run.finish(run.begin(slot.ingest, plan));
        }
    }

    private static void compact(ObjectStore store, Slot slot) throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(store);
        CompactionPlan plan =
                CompactionPlan.of(dataset.snapshot(), new CompactionRules(1 << 20, 1 << 20, OptionalLong.empty()));
        new Compaction(
                        dataset,
                        VersionRequest.COMPACTION + slot.ingest,
                        "ada@host",
                        SampleDatasets.CLOCK,
                        new CompactionThreads(1, 1, 1 << 24),
                        bytes -> {})
                .run(plan);
    }

    /** A line as a program of a slot. */
    static Interleaving.Program program(Line line, Slot slot) {
        return store -> line.work.run(store, slot);
    }
}

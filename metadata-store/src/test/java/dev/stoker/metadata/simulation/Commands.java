package dev.stoker.metadata.simulation;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.erasure.ErasureFiles;
import dev.stoker.metadata.erasure.ErasurePlan;
import dev.stoker.metadata.erasure.ErasurePlanner;
import dev.stoker.metadata.erasure.ErasureRun;
import dev.stoker.metadata.erasure.ErasureWork;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.NothingToExpireException;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.removal.NothingToRemoveException;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.NothingToUpdateException;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** The commands of users, as the command line runs them. Each can be given again after a fault. */
final class Commands {

    /** A command, given to the dataset in a store. */
    interface Command {
        void run(ObjectStore store) throws IOException, InterruptedException;
    }

    private static final Field LABEL = Field.small("label", FieldType.parse("categorical"));
    private static final Field SCORE = Field.nullable("score", ScalarType.INT64);
    private static final String BY = "ada@host";

    private final InstantSource clock;
    private final Model model;
    private int chunks;

    Commands(InstantSource clock, Model model) {
        this.clock = clock;
        this.model = model;
    }

    private VersionCommitter committer(Dataset dataset) {
        return new VersionCommitter(dataset, clock, BY, new TablePolicy(4, 1000));
    }

    /** Adds samples; those with the same keys are replaced. */
    Command ingest(String ingest, Map<String, Sample> samples) {
        model.command(ingest, before -> {
            before.putAll(samples);
            return before;
        });
        return store -> {
            Dataset dataset = Dataset.open(store);
            new Leases(dataset).take(ingest, clock, BY, "");
            List<ChunkSummary> written = new ArrayList<>();
            for (String split : List.of("train", "val")) {
                Map<String, byte[]> chunk = new LinkedHashMap<>();
                samples.forEach((key, sample) -> {
                    if (sample.split().equals(split)) {
                        chunk.put(key, sample.image().getBytes(StandardCharsets.UTF_8));
                    }
                });
                if (!chunk.isEmpty()) {
                    written.add(SampleDatasets.write(store, SampleDatasets.id(chunks++), ingest, split, chunk));
                }
            }
            Set<String> labels = new TreeSet<>();
            samples.values().forEach(sample -> labels.add(sample.label()));
            committer(dataset)
                    .commit(new VersionRequest(
                            ingest,
                            Operation.INGEST,
                            written,
                            base -> replaced(dataset, samples.keySet(), base),
                            Map.of("label", List.copyOf(labels)),
                            Map.of()));
            new Leases(dataset).release(ingest);
        };
    }

    private static List<RemovedRows> replaced(Dataset dataset, Set<String> keys, Snapshot base) throws IOException {
        try {
            return new SampleRemoval(dataset, ifPresent(keys), 1, chunk -> {}).from(base);
        } catch (NothingToRemoveException e) {
            return List.of();
        }
    }

    private static SampleRule ifPresent(Set<String> keys) {
        return new SampleRule(keys, List.of(), Optional.empty(), Optional.empty(), SampleRule.MissingKeys.IGNORE);
    }

    Command remove(String ingest, Set<String> keys) {
        model.command(ingest, before -> {
            before.keySet().removeAll(keys);
            return before;
        });
        return store -> {
            Dataset dataset = Dataset.open(store);
            SampleRemoval removal = new SampleRemoval(dataset, ifPresent(keys), 1, chunk -> {});
            try {
                committer(dataset).commit(VersionRequest.remove(ingest, removal, Map.of()));
            } catch (NothingToRemoveException e) {
                // No sample has one of the keys any more.
            }
        };
    }

    Command label(String ingest, Map<String, String> labels) {
        model.command(ingest, before -> {
            labels.forEach((key, label) -> before.computeIfPresent(key, (k, sample) -> sample.withLabel(label)));
            return before;
        });
        return store -> {
            ChunkBuilder table = new ChunkBuilder(List.of(LABEL), 4096);
            labels.forEach((key, label) -> {
                table.beginRow(key);
                table.setClass(0, label);
                table.endRow();
            });
            update(store, ingest, new NewValues(List.of(LABEL)), table);
        };
    }

    /** Sets a field that is added by the first such command. */
    Command score(String ingest, Map<String, Optional<Long>> scores) {
        model.command(ingest, before -> {
            scores.forEach((key, score) -> before.computeIfPresent(key, (k, sample) -> sample.withScore(score)));
            return before;
        });
        return store -> {
            ChunkBuilder table = new ChunkBuilder(List.of(SCORE), 4096);
            scores.forEach((key, score) -> {
                table.beginRow(key);
                score.ifPresentOrElse(value -> table.setLong(0, value), () -> table.setNull(0));
                table.endRow();
            });
            update(store, ingest, new NewValues(List.of(SCORE), AddedFields.of(List.of(SCORE))), table);
        };
    }

    private void update(ObjectStore store, String ingest, NewValues values, ChunkBuilder table) throws IOException {
        ByteBuffer file = ByteBuffer.allocate(1 << 16);
        table.finish(new ChunkIdentity(new UUID(0, 0), new UUID(0, 0), "table", "table", Instant.EPOCH))
                .buffers()
                .forEach(part -> file.put(part.duplicate()));
        values.add(ChunkReader.open(new BufferRangeReader("table", file.flip())));
        try {
            new SampleUpdate(Dataset.open(store), values, SampleRule.MissingKeys.IGNORE, 1, chunk -> {})
                    .commit(ingest, clock, BY);
        } catch (NothingToUpdateException e) {
            // No sample has one of the keys, or all have the values already.
        }
    }

    Command compact(String ingest, long seed) {
        return store -> {
            Dataset dataset = Dataset.open(store);
            CompactionPlan plan = CompactionPlan.of(
                    dataset.snapshot(), new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(seed)));
            if (!plan.isEmpty()) {
                new Compaction(dataset, ingest, BY, clock, new CompactionThreads(1, 1, 1 << 20), bytes -> {}).run(plan);
            }
        };
    }

    Command index(boolean isRebuilt) {
        return store -> {
            IndexBuild build = new IndexBuild(Dataset.open(store), BuildThreads.ofCaller(), rows -> {});
            if (isRebuilt) {
                build.rebuild();
            } else {
                build.update();
            }
        };
    }

    Command expire(String ingest, long last) {
        return store -> {
            Dataset dataset = Dataset.open(store);
            try {
                Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(last)), clock)
                        .commit(ingest, BY);
            } catch (NothingToExpireException e) {
                // Tags protect them, or all are expired.
            }
        };
    }

    Command tag(String name, long version) {
        return store -> {
            Tags tags = new Tags(Dataset.open(store));
            if (version == 0) {
                tags.delete(name, clock, BY);
            } else {
                tags.set(name, version, Tags.Mode.MOVE, clock, BY);
            }
        };
    }

    Command collect() {
        return store -> GarbageCollection.plan(Dataset.open(store), Duration.ZERO, clock)
                .apply();
    }

    /** {@code stoker gc --break}: the process of the ingest has died. */
    Command end(String ingest) {
        return store -> GarbageCollection.end(Dataset.open(store), ingest, clock, BY);
    }

    Command recover() {
        return store -> Recovery.plan(store, BY).apply();
    }

    private ErasureWork work() {
        return new ErasureWork(
                new CompactionRules(1 << 16, 1 << 16, OptionalLong.empty()),
                new CompactionThreads(1, 1, 1 << 24),
                BuildThreads.ofCaller(),
                clock,
                BY,
                chunk -> {});
    }

    /** Finishes the erasures that have begun, and then erases the samples with these keys that are left. */
    Command erase(String id, Set<String> keys) {
        model.command(id, before -> {
            before.keySet().removeAll(keys);
            return before;
        });
        return store -> {
            Dataset dataset = Dataset.open(store);
            finishErasures(dataset);
            if (new ErasureFiles(dataset).find(id).isEmpty()) {
                ErasurePlan plan = new ErasurePlanner(dataset, work()).plan(ifPresent(keys), Optional.empty());
                ErasureRun run = new ErasureRun(dataset, work());
                run.finish(run.begin(id, plan));
            }
        };
    }

    /** Finishes the erasures that have begun, and returns the certificates. */
    List<Erasure> finishErasures(Dataset dataset) throws IOException, InterruptedException {
        List<Erasure> certificates = new ArrayList<>();
        for (Erasure erasure : new ErasureFiles(dataset).unfinished()) {
            certificates.add(new ErasureRun(dataset, work()).finish(erasure));
        }
        return certificates;
    }
}

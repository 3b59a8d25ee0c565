package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionFailedException;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.NothingToExpireException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.ErasedClass;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.dataset.KeyHashes;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Runs an erasure. Each step can be repeated: after a crash, {@link #finish} continues with the records that the
 * dataset contains. Other writers, readers and erasures may run at the same time. For one thread.
 *
 * <p>The steps are: record the hashes of the keys; commit a version without the samples; rewrite the chunks that still
 * contain them; expire all versions that have these chunks; commit tombstones of class names that no other sample has;
 * record the files; delete them; replace the class names; write the certificate.
 */
public final class ErasureRun {

    /** Leaves room for the prefix and the suffix of the ids of compactions and expiries. */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    private final Dataset dataset;
    private final ErasureWork work;
    private final ErasureFiles files;
    private final VersionCommitter committer;

    public ErasureRun(Dataset dataset, ErasureWork work) {
        this.dataset = dataset;
        this.work = work;
        this.files = new ErasureFiles(dataset);
        this.committer = new VersionCommitter(dataset, work.clock(), work.by());
    }

    /**
     * Returns the id if it is valid for an erasure.
     *
     * @throws IllegalArgumentException unless it is an ingest id of at most 100 characters that is not of a compaction
     */
    public static String checkId(String id) {
        DatasetLayout.checkIngestId(id);
        if (!ID.matcher(id).matches() || id.startsWith(VersionRequest.COMPACTION)) {
            throw new IllegalArgumentException("Not an id of an erasure: '" + id + "'; use at most 100 characters, and"
                    + " do not begin with " + VersionRequest.COMPACTION);
        }
        return id;
    }

    /**
     * Records that an erasure has begun.
     *
     * @throws ErasureBlockedException if tags, feeds or writers prevent it; nothing is changed
     * @throws AbandonedException if the id was abandoned before
     * @throws IllegalArgumentException if another ingest has committed under the id
     */
    public Erasure begin(String id, ErasurePlan plan) throws IOException {
        if (!plan.blockers().isEmpty()) {
            throw new ErasureBlockedException(dataset.where(), plan.blockers());
        }
        if (files.find(id).isEmpty()) {
            for (String own :
                    List.of(id, VersionRequest.COMPACTION + id + "-1", id + "-expire-1", ClassErasure.id(id, 1))) {
                if (committer.find(own).isPresent()) {
                    throw new IllegalArgumentException(
                            "the id " + own + " is already in the log; use another id for the erasure");
                }
            }
        }
        return files.write(new Erasure(
                dataset.info().id(),
                dataset.info().name(),
                checkId(id),
                KeyHashes.of(KeyHashes.newSalt(new SecureRandom()), plan.keys().selected()),
                now(),
                work.by(),
                Optional.empty()));
    }

    private Instant now() {
        return work.clock().instant().truncatedTo(ChronoUnit.MILLIS);
    }

    /**
     * Finishes an erasure that has begun, from whatever step on.
     *
     * @return the certificate
     * @throws ErasureBlockedException if tags, feeds or writers prevent it; the erasure can be finished later
     */
    public Erasure finish(Erasure erasure) throws IOException, InterruptedException {
        Instant since = now();
        Erasure newest = files.find(erasure.id()).orElse(erasure);
        if (newest.phase() == Erasure.Phase.DONE) {
            files.tidy(erasure.id());
            return newest;
        }
        Erasure deleting = newest.phase() == Erasure.Phase.DELETING ? newest : detach(newest);
        Erasure done = files.write(delete(deleting, since));
        files.tidy(erasure.id());
        return done;
    }

    /** Makes sure that no version has a chunk with the samples. */
    private Erasure detach(Erasure erasure) throws IOException, InterruptedException {
        ErasedRows rows = new ErasedRows(dataset, KeyTest.of(erasure.keys()), work.reads(), work.progress());
        long upTo = remove(erasure, rows);
        List<LooseFiles.Holder> loose = requireNoWriter(erasure);
        List<UUID> rewritten = rewrite(erasure, rows, upTo);
        NavigableSet<Long> versions = expire(erasure, rows, upTo);
        ChunkTable newest = dataset.latest().table();
        int[] affected = affected(newest, rows, upTo);
        List<ErasedChunk> removed = new ArrayList<>();
        for (int chunk : affected) {
            removed.add(new ErasedChunk(newest.id(chunk), newest.length(chunk), newest.crc32c(chunk)));
        }
        for (LooseFiles.Holder holder : loose) {
            Remains.chunk(dataset.store(), holder.file().name()).ifPresent(removed::add);
        }
        Set<Long> adding = IntStream.of(affected).mapToObj(newest::addedIn).collect(Collectors.toSet());
        NavigableSet<String> naming = new Remains(dataset, erasure, List.of()).naming(adding, upTo);
        List<ErasedClass> classes = eraseClasses(erasure, newest, affected, loose, naming);
        return files.write(erasure.with(new ErasureResult(
                new ErasureResult.Versions(upTo, dataset.latestVersion(), VersionRanges.text(versions)),
                removed,
                rewritten,
                List.copyOf(naming),
                classes,
                Optional.empty(),
                List.of())));
    }

    private List<ErasedClass> eraseClasses(
            Erasure erasure,
            ChunkTable newest,
            int[] affected,
            List<LooseFiles.Holder> loose,
            NavigableSet<String> naming)
            throws IOException {
        List<String> others = new ArrayList<>();
        loose.forEach(holder -> others.add(holder.file().name()));
        naming.stream().filter(name -> ChunkNames.idOfOverlay(name).isPresent()).forEach(others::add);
        return new ClassErasure(dataset, committer, erasure)
                .commit(new LastClasses(dataset, newest, affected, others, work.reads()));
    }

    /** Returns the version up to which all samples with the keys are erased; no later version has them. */
    private long remove(Erasure erasure, ErasedRows rows) throws IOException {
        String id = erasure.id();
        for (int round = 2; isAbandoned(id); round++) {
            id = erasure.id() + "-remove-" + round;
        }
        Optional<Commit> before = committer.find(id);
        if (before.isPresent()) {
            return before.get().version();
        }
        requireUnprotected(rows, Long.MAX_VALUE);
        requireNoWriter(erasure);
        HashedRemoval removal = new HashedRemoval(rows);
        Snapshot base = dataset.snapshot();
        if (removal.from(base).isEmpty()) {
            return base.version();
        }
        String keys = Integer.toString(erasure.keys().hashes().size());
        return committer
                .commit(VersionRequest.remove(id, removal, Map.of(CertificateOrigin.KEYS, keys)))
                .version();
    }

    /** Returns whether {@code stoker gc --break} has ended an id, so that nothing can be committed under it. */
    private boolean isAbandoned(String id) throws IOException {
        try {
            committer.find(id);
            return false;
        } catch (AbandonedException e) {
            return true;
        }
    }

    private List<LooseFiles.Holder> requireNoWriter(Erasure erasure) throws IOException {
        LooseFiles loose = LooseFiles.list(dataset, erasure.id(), work.clock());
        List<LooseFiles.Holder> holding =
                loose.holding(dataset.store(), KeyTest.of(erasure.keys()).get());
        List<String> blockers = loose.blockers(dataset.where(), holding);
        if (!blockers.isEmpty()) {
            throw new ErasureBlockedException(dataset.where(), blockers);
        }
        return holding;
    }

    private NavigableSet<Long> requireUnprotected(ErasedRows rows, long upTo) throws IOException {
        ChunkTable newest = dataset.snapshot().table();
        NavigableSet<Long> versions = ChunkLives.versions(dataset, newest, affected(newest, rows, upTo));
        List<String> blockers = Protections.of(dataset, versions);
        if (!blockers.isEmpty()) {
            throw new ErasureBlockedException(dataset.where(), blockers);
        }
        return versions;
    }

    /** Returns the chunks of the versions up to one that contain erased samples and whose files exist. */
    private static int[] affected(ChunkTable newest, ErasedRows rows, long upTo) throws IOException {
        int[] chunks = IntStream.range(0, newest.size())
                .filter(i -> newest.addedIn(i) <= upTo)
                .toArray();
        rows.read(newest, chunks);
        return IntStream.of(chunks)
                .filter(i -> rows.of(newest.id(i)).length > 0)
                .toArray();
    }

    /** Rewrites the live chunks that contain erased samples. Returns the new chunks. */
    private List<UUID> rewrite(Erasure erasure, ErasedRows rows, long upTo) throws IOException, InterruptedException {
        List<UUID> rewritten = new ArrayList<>();
        for (int round = 1; ; round++) {
            String id = VersionRequest.COMPACTION + erasure.id() + "-" + round;
            if (isAbandoned(id)) {
                continue;
            }
            Optional<Commit> before = committer.find(id);
            while (before.isEmpty()) {
                Snapshot newest = dataset.snapshot();
                Set<Long> live = live(newest.table(), affected(newest.table(), rows, upTo));
                if (live.isEmpty()) {
                    return rewritten;
                }
                try {
                    compaction(id).run(CompactionPlan.ofChunks(newest, live, work.rules()));
                } catch (CompactionFailedException e) {
                    Snapshot now = dataset.snapshot();
                    if (now.version() == newest.version()) {
                        throw e;
                    }
                }
                before = committer.find(id);
            }
            new Leases(dataset).release(id);
            before.get().entry().added().stream().map(AddedChunk::id).forEach(rewritten::add);
        }
    }

    private Compaction compaction(String id) {
        return new Compaction(dataset, id, work.by(), work.clock(), work.compaction(), bytes -> {});
    }

    private static Set<Long> live(ChunkTable table, int[] chunks) {
        return IntStream.of(chunks)
                .filter(table::isLive)
                .mapToObj(table::ordinal)
                .collect(Collectors.toSet());
    }

    /** Expires all versions that have the chunks, and returns them. */
    private NavigableSet<Long> expire(Erasure erasure, ErasedRows rows, long upTo) throws IOException {
        for (int round = 1; ; round++) {
            // Reads the tags and uses after the log, so no reader can protect one of the expired versions later.
            NavigableSet<Long> versions = requireUnprotected(rows, upTo);
            NavigableSet<Long> left = new TreeSet<>(versions);
            ChunkTable newest = dataset.latest().table();
            left.removeIf(version -> newest.expired().contains(version));
            if (left.contains(newest.version())) {
                // The newest version cannot be expired, and a chunk that was rewritten never returns.
                throw new IllegalStateException("Version " + newest.version() + " of " + dataset.where()
                        + " has a chunk again that erasure " + erasure.id() + " had rewritten");
            }
            if (left.isEmpty()) {
                return versions;
            }
            String id = erasure.id() + "-expire-" + round;
            if (!committer.has(id)) {
                try {
                    Expiry.ofVersions(dataset, left, work.clock()).commit(id, work.by());
                } catch (NothingToExpireException e) {
                    // Another process has expired or protected them meanwhile; the next round finds out.
                }
            }
        }
    }

    /**
     * Deletes the files, and returns the certificate.
     *
     * @param since when this process began to finish the erasure
     */
    private Erasure delete(Erasure erasure, Instant since) throws IOException, InterruptedException {
        ErasureResult result = erasure.result().orElseThrow();
        ChunkTable newest = dataset.latest().table();
        Set<UUID> removed = result.removed().stream().map(ErasedChunk::id).collect(Collectors.toSet());
        Set<Long> adding = new TreeSet<>();
        for (int i = 0; i < newest.size(); i++) {
            if (removed.contains(newest.id(i))) {
                if (newest.isLive(i)) {
                    throw new ErasureBlockedException(
                            dataset.where(),
                            List.of("version " + newest.addedIn(i) + " has added chunk " + newest.id(i)
                                    + ", which had belonged to no version"));
                }
                adding.add(newest.addedIn(i));
            }
        }
        for (ErasedChunk chunk : result.removed()) {
            dataset.store().delete(ChunkNames.path(chunk.id()));
        }
        Remains remains = new Remains(dataset, erasure, result.classes());
        TreeSet<String> purged = new TreeSet<>(result.files());
        purged.addAll(new ClassErasure(dataset, committer, erasure).replace(result.classes()));
        purged.addAll(remains.purge(adding, work));
        List<String> left =
                remains.deleteUnfinished(LooseFiles.list(dataset, erasure.id(), work.clock()), work.clock(), since);
        return erasure.with(new ErasureResult(
                new ErasureResult.Versions(
                        result.versions().upTo(),
                        dataset.latestVersion(),
                        result.versions().expired()),
                result.removed(),
                result.rewritten(),
                List.copyOf(purged),
                result.classes(),
                Optional.of(now()),
                Remains.notReached(result.notReached(), left)));
    }
}

package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ProtectedVersions;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.index.run.RunObject;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Checks the certificate of an erasure: compares it with the dataset's {@link CertificateOrigin own record}, and reads
 * all remaining files: the keys in chunks and in runs of the index, the
 * log, dead letters, lists of skipped samples, and the names of unfinished files. Looks for erased class
 * names in these files, in overlays, in chunk tables and in dataset.json. Used by one thread; reads with several.
 */
public final class ErasureCheck {

    private final Dataset dataset;
    private final ObjectStore store;
    private final Erasure certificate;
    private final ErasureResult result;
    private final Instant ended;
    private final Supplier<KeyTest> keys;
    private final int threads;
    private final InstantSource clock;
    private final IntConsumer progress;
    private final List<Finding> findings = Collections.synchronizedList(new ArrayList<>());
    private final List<Finding> again = Collections.synchronizedList(new ArrayList<>());
    private final Map<UUID, Integer> known = new HashMap<>();
    private final ErasedNames classes;

    /**
     * Something that was found.
     *
     * @param file the file, as a user would type it
     * @param message one line
     */
    public record Finding(String file, String message) {}

    /**
     * Reports a check.
     *
     * @param chunks number of chunk files that were read
     * @param rows number of rows in them, also removed ones
     * @param findings what should be gone
     * @param again samples with erased keys that were added after the erasure
     */
    public record Report(int chunks, long rows, List<Finding> findings, List<Finding> again) {
        public Report {
            findings = List.copyOf(findings);
            again = List.copyOf(again);
        }

        /** Returns whether everything is gone. */
        public boolean isClean() {
            return findings.isEmpty();
        }
    }

    /**
     * @param file the name of the certificate's file, for messages
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk that was read, from any thread
     * @throws ForeignFileException if it is not a certificate of an erasure of this dataset
     */
    public ErasureCheck(
            Dataset dataset, Erasure certificate, String file, int threads, InstantSource clock, IntConsumer progress)
            throws ForeignFileException {
        this.dataset = dataset;
        this.store = dataset.store();
        this.certificate = certificate;
        if (!certificate.dataset().equals(dataset.info().id())) {
            throw new ForeignFileException(
                    file,
                    "a certificate of dataset " + dataset.info().id(),
                    "it is of dataset " + certificate.dataset() + ", " + certificate.name());
        }
        if (certificate.phase() != Erasure.Phase.DONE) {
            throw new ForeignFileException(
                    file,
                    "a certificate",
                    "erasure " + certificate.id() + " has not finished; finish it with: stoker delete "
                            + ShellText.word(dataset.where()) + " --erase --yes");
        }
        this.result = certificate.result().orElseThrow();
        this.ended = result.ended().orElseThrow();
        this.keys = KeyTest.of(certificate.keys());
        this.classes = new ErasedNames(dataset, certificate);
        this.threads = threads;
        this.clock = clock;
        this.progress = progress;
    }

    /** Returns what was found. */
    public Report run() throws IOException {
        List<String> files = names(DatasetLayout.CHUNKS);
        ChunkTable newest = dataset.snapshot().table();
        for (int i = 0; i < newest.size(); i++) {
            known.put(newest.id(i), i);
        }
        AtomicInteger chunks = new AtomicInteger();
        AtomicLong samples = new AtomicLong();
        int[] numbers = IntStream.range(0, files.size()).toArray();
        ParallelChunks.forEach(numbers, threads, () -> {
            KeyTest test = keys.get();
            return i -> {
                long rows = chunk(newest, files.get(i), test);
                if (rows >= 0) {
                    chunks.incrementAndGet();
                    samples.addAndGet(rows);
                }
                progress.accept(1);
            };
        });
        new CertificateOrigin(dataset, certificate, this::find).check(newest);
        versions(newest);
        for (String run : names(DatasetLayout.INDEX)) {
            index(newest, run);
        }
        classes.names(this::find);
        for (String name : new Remains(dataset, certificate, result.classes())
                .naming(Set.of(), result.versions().upTo())) {
            find(name, "names an erased sample; it may have been written after the erasure");
        }
        unfinished();
        return new Report(chunks.get(), samples.get(), findings, again);
    }

    private void find(String name, String message) {
        findings.add(new Finding(store.describe(name), message));
    }

    private List<String> names(String directory) throws IOException {
        return store.list(directory).toList().stream()
                .map(ObjectInfo::name)
                .sorted()
                .toList();
    }

    /** Returns the number of rows, or -1 if the file is no chunk or is gone. */
    private long chunk(ChunkTable newest, String name, KeyTest test) throws IOException {
        UUID id = ChunkNames.idOf(name).orElse(null);
        if (id == null) {
            find(name, "is not a chunk file of Stoker, so its content is unknown; look at it and delete it");
            return -1;
        }
        try {
            Integer index = known.get(id);
            ArrowColumn column;
            boolean isLater;
            String by;
            if (index == null) {
                ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, name));
                column = head.keys();
                isLater = head.identity().created().isAfter(ended);
                by = "by ingest " + head.identity().ingest() + ", which has committed no version with it";
            } else {
                column = ChunkReader.readKeys(new ObjectRangeReader(store, name), newest.summary(index));
                isLater = newest.addedIn(index) > result.versions().upTo();
                by = "in version " + newest.addedIn(index);
            }
            int found = ErasedRows.rows(column, test).length;
            if (!result.classes().isEmpty()) {
                classes(name, index == null ? isLater : newest.addedIn(index) > classes.version());
            }
            if (result.removed().stream().map(ErasedChunk::id).anyMatch(id::equals)) {
                find(name, "is a chunk file that the erasure has deleted; it is there again");
            } else if (found > 0 && isLater) {
                again.add(new Finding(store.describe(name), samples(found) + ", added after the erasure " + by));
            } else if (found > 0) {
                find(name, samples(found) + ", added before the erasure " + by);
            }
            return column.rows();
        } catch (NoSuchObjectException e) {
            return -1;
        } catch (StokerException e) {
            find(name, "cannot be read, so it may contain erased samples: " + ErrorText.of(e));
            return -1;
        }
    }

    private void classes(String name, boolean isLater) throws IOException {
        int count = classes.in(ChunkReader.open(new ObjectRangeReader(store, name)));
        if (count > 0) {
            String message = "contains " + Units.plural(count, "erased class name");
            if (isLater) {
                again.add(new Finding(store.describe(name), message + ", added after the erasure"));
            } else {
                find(name, message + ", added before the erasure");
            }
        }
    }

    private static String samples(int count) {
        return count == 1 ? "contains a sample with an erased key" : "contains " + count + " samples with erased keys";
    }

    private void versions(ChunkTable newest) throws IOException {
        Set<UUID> removed = result.removed().stream().map(ErasedChunk::id).collect(Collectors.toSet());
        int[] chunks = IntStream.range(0, newest.size())
                .filter(i -> removed.contains(newest.id(i)))
                .toArray();
        NavigableSet<Long> versions = ChunkLives.versions(dataset, newest, chunks);
        versions.addAll(VersionRanges.parse(result.versions().expired()));
        Set<Long> guarded = ProtectedVersions.read(dataset).keySet();
        for (long version : versions) {
            if (version > newest.version()) {
                find(DatasetLayout.logEntry(version), "is missing: the dataset has lost version " + version);
            } else if (!newest.expired().contains(version)) {
                find(DatasetLayout.logEntry(version), "version " + version + " has erased samples and is not expired");
            } else if (guarded.contains(version)) {
                find(DatasetLayout.logEntry(version), "version " + version + " has erased samples and can be opened");
            }
        }
    }

    private void index(ChunkTable newest, String name) {
        KeyTest test = keys.get();
        try {
            SampleRun run = SampleRun.open(new RunObject(store, name));
            long old = 0;
            for (long row = 0; row < run.rows(); row++) {
                if (test.isErased(run.key(row))) {
                    int chunk = newest.indexOf(run.row(row).ordinal());
                    boolean isLater = chunk >= 0
                            && newest.addedIn(chunk) > result.versions().upTo();
                    old += isLater ? 0 : 1;
                }
            }
            if (old > 0) {
                find(
                        name,
                        "names erased samples; write it again with: stoker index " + ShellText.word(dataset.where())
                                + " --rebuild");
            }
        } catch (NoSuchObjectException e) {
            // A build has superseded it since it was listed.
        } catch (IOException e) {
            find(name, "cannot be read, so it may name erased samples: " + ErrorText.of(e));
        }
    }

    private void unfinished() throws IOException {
        Duration since = Duration.between(ended, clock.instant());
        for (Orphan orphan : Orphans.find(dataset, clock)) {
            if (orphan.unfinished() && orphan.age().compareTo(since) >= 0) {
                find(
                        orphan.name(),
                        "is an unfinished file from before the erasure, so it may contain erased samples; delete it"
                                + " with: stoker gc " + ShellText.word(dataset.where()) + " --yes");
            }
        }
    }
}

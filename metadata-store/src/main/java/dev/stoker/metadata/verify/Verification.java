package dev.stoker.metadata.verify;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.VersionLog;
import dev.stoker.metadata.index.run.RunObject;
import dev.stoker.metadata.work.ThreadWorkers;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * Reads every byte of a version and of the log, and verifies it with all available checksums. Continues after a
 * problem, so the report lists all problems.
 */
public final class Verification {

    private final Dataset dataset;
    private final Workers workers;
    private final LongConsumer progress;

    /**
     * A verification with threads of this process.
     *
     * @param executor reads the chunks; must have {@code parallelism} free threads
     * @param parallelism number of chunks that are read in parallel
     * @param progress receives the number of bytes read since its last call, from any of the threads
     */
    public Verification(Dataset dataset, Executor executor, int parallelism, LongConsumer progress) {
        this(dataset, new ThreadWorkers(dataset.store(), executor, parallelism), progress);
    }

    /**
     * @param workers read the chunks
     * @param progress receives the number of bytes read since its last call, on any thread
     */
    public Verification(Dataset dataset, Workers workers, LongConsumer progress) {
        this.dataset = dataset;
        this.workers = workers;
        this.progress = progress;
    }

    /**
     * Verifies all live chunks of a version, and the log, chunk tables, index runs and records of erasures of the
     * dataset. Blocks until
     * everything is read.
     *
     * @throws InterruptedException if interrupted
     */
    public VerificationReport run(Snapshot snapshot) throws IOException, InterruptedException {
        List<Problem> problems = new ArrayList<>();
        verifyLog(problems);
        verifyTables(problems);
        verifyIndex(problems);
        problems.addAll(DamagedErasures.find(dataset));
        ChunkTable table = snapshot.table();
        ChunkVerifications work = new ChunkVerifications(snapshot);
        LongAdder bytes = new LongAdder();
        workers.run(work.pieces(), work, found -> {
            bytes.add(found.bytes());
            progress.accept(found.bytes());
            problems.addAll(found.problems());
        });
        problems.sort(Comparator.comparingLong(Problem::chunk).thenComparingInt(Problem::row));
        return new VerificationReport(snapshot.version(), work.pieces(), table.liveRows(), bytes.sum(), problems);
    }

    private void verifyLog(List<Problem> problems) throws IOException {
        VersionLog log = dataset.log();
        long newest = log.newestVersion();
        for (long version = 1; version <= newest; version++) {
            String name = DatasetLayout.logEntry(version);
            try {
                byte[] content = log.raw(version);
                String ingest = log.decode(version, content).ingest();
                String copy = DatasetLayout.ingestCopy(ingest);
                try {
                    log.copy(ingest);
                    if (!Arrays.equals(content, dataset.store().readAll(copy, content.length))) {
                        problems.add(problem(copy, "differs from " + name));
                    }
                } catch (NoSuchObjectException e) {
                    // Between a commit and the next, the newest entry's copy may be missing.
                    if (version < newest) {
                        problems.add(problem(copy, "is missing; `stoker recover` writes it again"));
                    }
                } catch (IOException e) {
                    problems.add(problem(copy, ErrorText.of(e)));
                }
            } catch (IOException e) {
                problems.add(problem(name, ErrorText.of(e)));
            }
        }
        try {
            log.requireNewest(newest);
        } catch (CorruptDataException e) {
            problems.add(problem(DatasetLayout.logEntry(newest + 1), ErrorText.of(e)));
        }
    }

    private void verifyTables(List<Problem> problems) throws IOException {
        for (ObjectInfo table : dataset.store().list(DatasetLayout.TABLES).toList()) {
            try {
                ChunkTable.decode(
                        dataset.store().readAll(table.name(), Integer.MAX_VALUE),
                        dataset.store().describe(table.name()));
            } catch (NoSuchObjectException e) {
                // Deleted as superseded since it was listed.
            } catch (IOException e) {
                problems.add(problem(table.name(), e.getMessage() + " (chunk tables may be deleted)"));
            }
        }
    }

    private void verifyIndex(List<Problem> problems) throws IOException {
        for (ObjectInfo run : dataset.store().list(DatasetLayout.INDEX).toList()) {
            try {
                SampleRun.open(new RunObject(dataset.store(), run.name())).verifyAll();
            } catch (NoSuchObjectException e) {
                // A build has superseded it since it was listed.
            } catch (IOException e) {
                problems.add(problem(run.name(), ErrorText.of(e)));
            }
        }
    }

    private Problem problem(String name, String message) {
        return Problem.ofFile(dataset.store().describe(name), message);
    }
}

package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.flink.failure.Patience;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.Committer.CommitRequest;

/** Lets tests of other modules commit as the sinks do, without a job. */
public final class CommitDrivers {

    private CommitDrivers() {}

    /** Commits a file ingest. */
    public static void ingest(IngestRun run, List<ChunkSummary> chunks, List<String> classes) throws IOException {
        ingest(run, chunks, List.of(), classes);
    }

    /**
     * Commits a file ingest that removes samples.
     *
     * @param removed rows of the base version
     */
    public static void ingest(IngestRun run, List<ChunkSummary> chunks, List<RemovedRows> removed, List<String> classes)
            throws IOException {
        IngestCommitter committer = new IngestCommitter(run, SampleKeys.GIVEN, Patience.ofBatch());
        commit(
                committer,
                new IngestCommittable(
                        IngestCommittable.Part.ONLY,
                        chunks,
                        removed,
                        Map.of("label", new TreeSet<>(classes)),
                        Map.of("skipped", 0L),
                        Map.of()));
    }

    /** Commits one version of a topic. */
    public static void stream(
            TopicRun run,
            String ingest,
            List<ChunkSummary> chunks,
            List<String> classes,
            SortedMap<Integer, Long> before,
            SortedMap<Integer, Long> after)
            throws IOException {
        TopicCommitter committer = new TopicCommitter(run, Patience.ofBatch());
        commit(
                committer,
                new TopicCommittable(
                        ingest,
                        chunks,
                        Map.of("label", new TreeSet<>(classes)),
                        new TreeMap<>(before),
                        new TreeMap<>(after),
                        0));
    }

    private static <T> void commit(Committer<T> committer, T committable) throws IOException {
        try {
            committer.commit(List.of(new Request<>(committable)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted within a commit");
        }
    }

    private record Request<T>(T getCommittable) implements CommitRequest<T> {

        @Override
        public int getNumberOfRetries() {
            return 0;
        }

        @Override
        public void signalFailedWithKnownReason(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void retryLater() {
            throw new AssertionError("not asked for");
        }

        @Override
        public void updateAndRetryLater(T committable) {
            throw new AssertionError("not asked for");
        }

        @Override
        public void signalAlreadyCommitted() {}
    }
}

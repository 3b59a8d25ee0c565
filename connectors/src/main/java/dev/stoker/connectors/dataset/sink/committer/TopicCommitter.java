package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.IngestTotals;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.api.connector.sink2.Committer;

/**
 * Commits the versions of a stream, each once, and only if the dataset is at the position that the version follows.
 * Refuses a job that was started from an old savepoint or that another job has overtaken. Runs on the task's thread.
 */
public final class TopicCommitter implements Committer<TopicCommittable> {

    private final TopicRun run;
    private final CommitLoop loop;
    private TopicPosition position;
    private long known;
    private long keysChecked;

    /** @param patience how to retry while the store or a broker is unavailable */
    public TopicCommitter(TopicRun run, Patience patience) {
        this.run = run;
        loop = new CommitLoop(run.store(), run.target(), patience);
        position = run.committed();
        known = run.limits().baseVersion();
        keysChecked = known;
    }

    @Override
    public void commit(Collection<CommitRequest<TopicCommittable>> requests) throws IOException, InterruptedException {
        // Its ingest id ensures that a part is committed once despite retries.
        loop.run(requests, this::commit);
    }

    private void commit(TopicCommittable committable, ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        if (!dataset.info().id().toString().equals(run.dataset())) {
            throw new CommitRefusedException("The dataset at " + run.target()
                    + " was recreated while the ingest ran; this part is not committed, start the ingest again");
        }
        run.limits().guard().check();
        Map<String, List<String>> classes = new TreeMap<>();
        committable.classes().forEach((field, names) -> classes.put(field, new ArrayList<>(names)));
        LateKeys keys = new LateKeys(store, committable.chunks(), keysChecked);
        ChangedRows changed = new ChangedRows(dataset, committable, keysChecked);
        Commit commit = new VersionCommitter(dataset, Clock.systemUTC(), WriterProcess.user())
                .commit(new VersionRequest(
                        committable.ingest(),
                        committable.chunks().isEmpty() ? Operation.REMOVE : Operation.INGEST,
                        committable.chunks(),
                        base -> {
                            require(committable, dataset, base);
                            return switch (run.limits().keys()) {
                                case OFFSETS -> List.of();
                                case RECORDS -> {
                                    keys.check(base);
                                    yield List.of();
                                }
                                case CHANGES -> changed.from(base);
                            };
                        },
                        classes,
                        base -> properties(committable, dataset, base),
                        List.of(committable.run())));
        if (commit.repeated()) {
            requireSame(committable, commit.entry());
        }
        // After a restore from a savepoint, parts older than the newest version can arrive; they must not move the
        // position back.
        if (commit.version() > known) {
            position = run.committed().at(committable.after());
            known = commit.version();
        }
        keysChecked = known;
        run.limits().guard().committed(commit.entry());
    }

    /** Requires the dataset to be at the position at which this version begins. */
    private void require(TopicCommittable committable, Dataset dataset, Snapshot base) throws IOException {
        String topic = run.committed().topic();
        Optional<LogEntry> newer = TopicPosition.newest(dataset, base, topic, known);
        TopicPosition found =
                newer.isPresent() ? TopicPosition.of(newer.get(), topic).orElse(position) : position;
        known = Math.max(known, base.version());
        position = found;
        if (!found.next().equals(committable.before())) {
            throw new CommitRefusedException("The dataset at " + run.target() + " is at "
                    + where(found.next()) + " of the topic " + found.topic() + ", but this ingest continues from "
                    + where(committable.before())
                    + ": another ingest of the topic is running or has run, or this one was started from an old"
                    + " savepoint; nothing is committed, start one ingest again, without state");
        }
        for (Map.Entry<Integer, Long> before : committable.before().entrySet()) {
            if (committable.after().getOrDefault(before.getKey(), -1L) < before.getValue()) {
                throw new CommitRefusedException("The dataset at " + run.target() + " is at "
                        + where(found.next()) + " of the topic " + found.topic()
                        + ", but this ingest would move it back to "
                        + where(committable.after()) + "; nothing is committed, start the ingest again without state");
            }
        }
    }

    private Map<String, String> properties(TopicCommittable committable, Dataset dataset, Snapshot base)
            throws IOException {
        TopicPosition after = run.committed().at(committable.after());
        Map<String, String> properties = new TreeMap<>(after.properties());
        if (committable.deadLetters() > 0) {
            properties.put(TopicRun.DEAD_LETTERS, Long.toString(committable.deadLetters()));
        }
        Optional<LogEntry> before = TopicPosition.newest(dataset, base, after.topic(), 0);
        IngestTotals totals = before.isPresent() ? IngestTotals.of(before.get(), committable.run()) : IngestTotals.NONE;
        properties.putAll(
                totals.plus(committable.chunks(), committable.deadLetters()).properties());
        return properties;
    }

    private static String where(TreeMap<Integer, Long> next) {
        return next.isEmpty() ? "nothing" : "the offsets " + TopicPosition.text(next);
    }

    private void requireSame(TopicCommittable committable, LogEntry entry) throws IOException {
        Optional<TopicPosition> there = TopicPosition.of(entry, run.committed().topic());
        if (there.isEmpty() || !there.get().next().equals(committable.after())) {
            throw new CommitRefusedException("Version " + entry.version() + " of " + run.target()
                    + " has the ingest id " + committable.ingest() + " but other content; start the ingest again"
                    + " without state");
        }
    }

    @Override
    public void close() {}
}

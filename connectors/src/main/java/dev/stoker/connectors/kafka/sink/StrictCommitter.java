package dev.stoker.connectors.kafka.sink;

import dev.stoker.connectors.kafka.BrokerErrors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.jspecify.annotations.Nullable;

/**
 * Commits transactions in order, or fails. When brokers have aborted a transaction, Kafka's own committer only logs an
 * error. It then treats the transaction's records as written and commits the next one after the gap.
 *
 * <ul>
 *   <li>If a transaction of this run was aborted, the task fails, and the job restarts from its last checkpoint.
 *   <li>The brokers may refuse a transaction from the restored state because it was committed long ago. So a refusal
 *       does not fail the task: the source checks what the topic contains. If the transaction was not committed, later
 *       transactions of the state would follow a gap, so the committer aborts them.
 *   <li>A transaction that was begun after the checkpoint may be open under the id of a refused one, and Kafka's writer
 *       ignores it because of the state. The committer aborts it, because it would block consumers until its time-out.
 * </ul>
 *
 * <p>One thread, the task's. A committable has its writer's producer unless it was restored from a state.
 */
@SuppressWarnings("try") // the interface declares that close may be interrupted
final class StrictCommitter implements Committer<KafkaCommittable> {
    /** Aborts the open transactions of some ids. */
    interface Brokers {
        void abort(Collection<String> transactionalIds) throws IOException;
    }

    private final Committer<KafkaCommittable> committer;
    private final Brokers brokers;
    private final String where;
    /** Whether a transaction of the restored state was refused. */
    private boolean isRefused;

    /**
     * @param committer Kafka's committer; {@link #close} closes it
     * @param where topic and brokers, for messages
     */
    StrictCommitter(Committer<KafkaCommittable> committer, Brokers brokers, String where) {
        this.committer = committer;
        this.where = where;
        this.brokers = brokers;
    }

    @Override
    public void commit(Collection<CommitRequest<KafkaCommittable>> requests) throws IOException, InterruptedException {
        List<Watched> tried = new ArrayList<>();
        List<String> given = new ArrayList<>();
        for (CommitRequest<KafkaCommittable> request : requests) {
            Watched watched = new Watched(request);
            if (isRefused && watched.isOfState()) {
                given.add(watched.id());
                request.signalFailedWithKnownReason(new IOException("an earlier transaction was refused"));
            } else {
                tried.add(watched);
            }
        }
        committer.commit(new ArrayList<>(tried));
        for (Watched request : tried) {
            if (request.refusal == null) {
                continue;
            }
            if (!request.isOfState()) {
                throw new IOException(
                        "the brokers aborted transaction " + request.id()
                                + " before it was committed: another feed of this name has started, or this one was"
                                + " stalled for longer than --transaction-timeout; its records are written again",
                        request.refusal);
            }
            isRefused = true;
            given.add(request.id());
        }
        if (!given.isEmpty()) {
            brokers.abort(given);
        }
    }

    @Override
    public void close() throws Exception {
        committer.close();
    }

    /** A request that remembers that it was refused. */
    private final class Watched implements CommitRequest<KafkaCommittable> {
        private final CommitRequest<KafkaCommittable> request;
        private @Nullable Throwable refusal;

        Watched(CommitRequest<KafkaCommittable> request) {
            this.request = request;
        }

        boolean isOfState() {
            return getCommittable().getProducer().isEmpty();
        }

        String id() {
            return getCommittable().getTransactionalId();
        }

        @Override
        public KafkaCommittable getCommittable() {
            return request.getCommittable();
        }

        /** For the log messages of Kafka's committer. */
        @Override
        public String toString() {
            return getCommittable().toString();
        }

        @Override
        public int getNumberOfRetries() {
            return request.getNumberOfRetries();
        }

        @Override
        public void signalFailedWithKnownReason(Throwable reason) {
            refusal = reason;
            request.signalFailedWithKnownReason(reason);
        }

        @Override
        public void signalFailedWithUnknownReason(Throwable reason) {
            if (isOfState() && reason instanceof InvalidPidMappingException) {
                // Brokers forget ids that were unused for a week, and abort their open transactions long before.
                signalFailedWithKnownReason(reason);
            } else {
                BrokerErrors.endIfRefused(where, reason);
                request.signalFailedWithUnknownReason(reason);
            }
        }

        @Override
        public void retryLater() {
            request.retryLater();
        }

        @Override
        public void updateAndRetryLater(KafkaCommittable committable) {
            request.updateAndRetryLater(committable);
        }

        @Override
        public void signalAlreadyCommitted() {
            request.signalAlreadyCommitted();
        }
    }
}

package dev.stoker.connectors.kafka;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.common.errors.InvalidPidMappingException;

/**
 * Commits transactions in their order, or fails. Kafka's own committer logs an error where brokers have given up a transaction, takes its
 * records for written, and commits the next one behind the gap.
 *
 * <ul>
 *   <li>A transaction of this run that was given up fails the task. The job begins again from its last checkpoint then.
 *   <li>One of the state that a job begins with may be refused because it was committed long ago. So it fails nothing: the source
 *       looks what the topic has. But what the state has after it would stand behind a gap if it was not, and is given up.
 *   <li>Under the id of a refused one a transaction may be open that was begun after the state was taken, and that Kafka's writer
 *       leaves alone because of the state. It is given up, or it would hold up consumers until its time is over.
 * </ul>
 *
 * <p>One thread, the task's. A committable has its writer's producer as long as it has not been in a state.
 */
@SuppressWarnings("try") // that close may be interrupted is the interface's word
final class StrictCommitter implements Committer<KafkaCommittable> {
    /** Ends what is open under some ids. */
    interface Brokers {
        void giveUp(Collection<String> transactionalIds) throws IOException;
    }

    private final Committer<KafkaCommittable> committer;
    private final Brokers brokers;
    private final String where;
    /** Whether a transaction of the state was refused. */
    private boolean isRefused;

    /**
     * @param committer Kafka's; closed with this one
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
                request.signalFailedWithKnownReason(new IOException("one before it was refused"));
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
                        "the brokers have given up transaction " + request.id()
                                + " before it was committed: another feed of this name has begun, or this one stood still for"
                                + " longer than --transaction-timeout; its records are written again",
                        request.refusal);
            }
            isRefused = true;
            given.add(request.id());
        }
        if (!given.isEmpty()) {
            brokers.giveUp(given);
        }
    }

    @Override
    public void close() throws Exception {
        committer.close();
    }

    /** A request that remembers that it was refused. */
    private final class Watched implements CommitRequest<KafkaCommittable> {
        private final CommitRequest<KafkaCommittable> request;
        private Throwable refusal;

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

        /** For the log of Kafka's committer. */
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
                // Brokers forget ids that nobody has used for a week, and end what was open under them long before.
                signalFailedWithKnownReason(reason);
            } else {
                BrokerTrouble.endIfRefused(where, reason);
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

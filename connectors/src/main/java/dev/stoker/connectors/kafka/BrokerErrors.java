package dev.stoker.connectors.kafka;

import dev.stoker.flink.failure.FailureKind;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;

/** Turns a failure of the brokers into an error message with the next step. */
public final class BrokerErrors {
    private BrokerErrors() {}

    /**
     * The error for a request that failed or got no answer.
     *
     * @param topic the requested topic
     * @param bootstrap brokers as {@code host:port,…}
     * @param otherwise the message if brokers did answer
     */
    public static TopicException of(String topic, String bootstrap, Throwable failure, String otherwise) {
        Throwable refusal = FailureKind.refusal(failure);
        if (refusal != null) {
            return new TopicException(otherwise + advice(refusal), failure);
        }
        boolean isUnanswered = FailureKind.of(failure) == FailureKind.PASSING;
        return new BrokersAwayException(isUnanswered ? noAnswer(topic, bootstrap) : otherwise, failure);
    }

    /**
     * Ends the job if a failure of Kafka's own source or sink is a permanent refusal.
     *
     * @param where topic and brokers
     * @throws SuppressRestartsException if it is, with a message for the user
     */
    public static void endIfRefused(String where, Throwable failure) {
        Throwable refusal = FailureKind.refusal(failure);
        if (refusal != null) {
            throw new SuppressRestartsException(new TopicException(
                    where + ": the brokers refuse a request of the job: " + refusal.getMessage() + advice(refusal),
                    failure));
        }
    }

    /**
     * The error for a client that cannot be created: its settings are wrong, or the brokers' names cannot be resolved
     * at present.
     *
     * @param where topic and brokers
     */
    public static TopicException notMade(String where, Throwable failure) {
        String message = where + " cannot be reached: " + rootMessage(failure);
        return FailureKind.of(failure) == FailureKind.PASSING
                ? new BrokersAwayException(message, failure)
                : new TopicException(message, failure);
    }

    private static String noAnswer(String topic, String bootstrap) {
        return "topic " + topic + ": no broker answers at " + bootstrap
                + "; check the address, that brokers run there, that their advertised.listeners are reachable from"
                + " here, and the security settings in the file of --kafka-config";
    }

    /** The advice for a refusal. */
    static String advice(Throwable refusal) {
        if (refusal instanceof AuthenticationException) {
            return "; check user and password in the file of --kafka-config";
        }
        if (refusal instanceof AuthorizationException) {
            return "; allow the user of --kafka-config " + right(refusal)
                    + " (docs/kafka.md lists the rights that each part needs)";
        }
        return refusal instanceof RecordTooLargeException
                ? "; raise max.message.bytes of the topic, or start with a smaller --max-record-bytes"
                : "";
    }

    private static String right(Throwable refusal) {
        if (refusal instanceof TransactionalIdAuthorizationException) {
            return "Write and Describe on transactional ids that begin with stoker-";
        }
        if (refusal instanceof TopicAuthorizationException) {
            return "Describe and Read on the topic, and Write if it feeds";
        }
        if (refusal instanceof GroupAuthorizationException) {
            return "Describe on the consumer groups of --throttle-groups";
        }
        return refusal instanceof ClusterAuthorizationException ? "the cluster operations it needs" : "what it needs";
    }

    /** The message of the root cause. */
    public static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage());
    }
}

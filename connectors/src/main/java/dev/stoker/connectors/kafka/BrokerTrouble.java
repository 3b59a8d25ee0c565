package dev.stoker.connectors.kafka;

import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.TimeoutException;

/** Says what a failure at the brokers means to whoever has named them. */
final class BrokerTrouble {
    private BrokerTrouble() {}

    /**
     * The error for a question that got no answer, or a bad one.
     *
     * @param topic that was asked for
     * @param bootstrap brokers as {@code host:port,…}
     * @param otherwise the message if brokers did answer
     */
    static TopicException of(String topic, String bootstrap, Throwable failure, String otherwise) {
        return new TopicException(isUnanswered(failure) ? noAnswer(topic, bootstrap) : otherwise, failure);
    }

    private static String noAnswer(String topic, String bootstrap) {
        return "topic " + topic + ": no broker answers at " + bootstrap
                + "; check the address, that brokers run there and are reached from here by the names in their"
                + " advertised.listeners, and the security settings in the file of --kafka-config";
    }

    private static boolean isUnanswered(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof TimeoutException
                    || cause instanceof DisconnectException
                    || cause instanceof java.util.concurrent.TimeoutException) {
                return true;
            }
        }
        return false;
    }

    /** The message of the first cause. */
    static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage());
    }
}

package dev.stoker.flink.failure;

import dev.stoker.metadata.commit.CommitUnknownException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidRequiredAcksException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

/**
 * The class of a failure, which determines a job's reaction.
 *
 * <ul>
 *   <li>A refusal by the brokers, and an error that Stoker has a type for, are final, unless listed below.
 *   <li>An unavailable store, broker or credential, and a full disk, are temporary.
 *   <li>Everything else is unknown: a disk error, or a bug.
 * </ul>
 */
public enum FailureKind {
    /** A retry would fail again: the job ends. */
    FINAL,
    /** Something is temporarily unavailable: the job waits for it. */
    PASSING,
    /** Flink restarts the job, up to the {@linkplain RestartLimit limit}. */
    UNKNOWN;

    private static final List<Class<? extends Throwable>> REFUSALS = List.of(
            AuthorizationException.class,
            AuthenticationException.class,
            InvalidConfigurationException.class,
            InvalidRequiredAcksException.class,
            InvalidTopicException.class,
            InvalidTxnTimeoutException.class,
            PolicyViolationException.class,
            RecordTooLargeException.class,
            SecurityDisabledException.class,
            UnsupportedCompressionTypeException.class,
            UnsupportedForMessageFormatException.class,
            UnsupportedVersionException.class);

    private static final List<Class<? extends Throwable>> ABSENCES = List.of(
            StoreUnavailableException.class,
            StoreAccessException.class,
            NoSpaceException.class,
            UnknownOutcomeException.class,
            CommitUnknownException.class,
            RetriableException.class,
            TimeoutException.class);

    /** Returns the kind of a failure, judged by its causes from the outermost inwards. */
    public static FailureKind of(Throwable failure) {
        List<Throwable> causes = causes(failure);
        // The brokers' refusal may be below a time-out: the client retried until its time was over.
        if (refusal(failure) != null) {
            return FINAL;
        }
        for (Throwable cause : causes) {
            if (cause instanceof Passing || isUnresolved(cause) || isOneOf(ABSENCES, cause)) {
                return PASSING;
            }
            if (cause instanceof StokerException
                    || cause instanceof SuppressRestartsException
                    || cause instanceof ConfigException) {
                return FINAL;
            }
        }
        return UNKNOWN;
    }

    /**
     * Whether a store could not be reached at all. This says nothing about the requested object, so nothing is skipped.
     */
    public static boolean isSilence(Throwable failure) {
        return failure instanceof StoreUnavailableException
                || (failure instanceof StoreAccessException access && access.isExpired());
    }

    /** The brokers' permanent refusal among the causes; null if there is none. */
    public static @Nullable Throwable refusal(Throwable failure) {
        for (Throwable cause : causes(failure)) {
            if (isOneOf(REFUSALS, cause)) {
                return cause;
            }
        }
        return null;
    }

    /**
     * Ends the job if a failure is final. A task calls it before it throws the failure; otherwise Flink would restart
     * the job.
     *
     * @throws SuppressRestartsException if the failure is final
     */
    public static void endIfFinal(Exception failure) {
        if (of(failure) == FINAL) {
            throw suppressing(failure);
        }
    }

    private static SuppressRestartsException suppressing(Exception failure) {
        return failure instanceof SuppressRestartsException own ? own : new SuppressRestartsException(failure);
    }

    /** The client resolves the brokers' names once, when it is created, and reports a failure as a wrong setting. */
    private static boolean isUnresolved(Throwable cause) {
        return cause instanceof ConfigException
                && String.valueOf(cause.getMessage()).contains("No resolvable bootstrap");
    }

    private static boolean isOneOf(List<Class<? extends Throwable>> types, Throwable cause) {
        return types.stream().anyMatch(type -> type.isInstance(cause));
    }

    private static List<Throwable> causes(Throwable failure) {
        List<Throwable> causes = new ArrayList<>();
        for (Throwable cause = failure; cause != null && !causes.contains(cause); cause = cause.getCause()) {
            causes.add(cause);
        }
        return causes;
    }
}

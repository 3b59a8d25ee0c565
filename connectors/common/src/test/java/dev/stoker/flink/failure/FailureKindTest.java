package dev.stoker.flink.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FailureKindTest {

    static Stream<Exception> finals() {
        return Stream.of(
                new TopicAuthorizationException("photos"),
                new TransactionalIdAuthorizationException("id"),
                new ClusterAuthorizationException("cluster"),
                new GroupAuthorizationException("group"),
                new SaslAuthenticationException("password"),
                new UnsupportedVersionException("old"),
                new RecordTooLargeException("large"),
                new ConfigException("acks", "some"),
                new CorruptDataException("chunk"),
                new NoSuchObjectException("chunk"),
                new UnsupportedStoreException("store"),
                new SuppressRestartsException(new IOException("said")),
                new TimeoutException("node assignment", new SaslAuthenticationException("password")),
                new IOException(new ExecutionException(new TopicAuthorizationException("photos"))));
    }

    static Stream<Exception> passing() {
        return Stream.of(
                new StoreUnavailableException("away", null),
                new StoreAccessException("expired", null),
                new NoSpaceException("disk", null),
                new UnknownOutcomeException("entry", new IOException("lost")),
                new TimeoutException("broker"),
                new NotEnoughReplicasException("broker"),
                new KafkaException("made", new ConfigException("No resolvable bootstrap urls given")),
                new ExecutionException(new java.util.concurrent.TimeoutException()));
    }

    static Stream<Exception> unknown() {
        return Stream.of(
                new IOException("Input/output error"), new IllegalStateException(), new KafkaException("strange"));
    }

    @ParameterizedTest
    @MethodSource("finals")
    void endsTheJob(Exception failure) {
        assertThat(FailureKind.of(failure)).isEqualTo(FailureKind.FINAL);
        assertThatThrownBy(() -> FailureKind.endIfFinal(failure)).isInstanceOf(SuppressRestartsException.class);
    }

    @ParameterizedTest
    @MethodSource("passing")
    void isWaitedFor(Exception failure) {
        assertThat(FailureKind.of(failure)).isEqualTo(FailureKind.PASSING);
        assertThatCode(() -> FailureKind.endIfFinal(failure)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @MethodSource("unknown")
    void restartsTheJob(Exception failure) {
        assertThat(FailureKind.of(failure)).isEqualTo(FailureKind.UNKNOWN);
        assertThatCode(() -> FailureKind.endIfFinal(failure)).doesNotThrowAnyException();
    }

    @Test
    void causesThatFormACircleAreLookedAtOnce() {
        IOException inner = new IOException("inner");
        IOException outer = new IOException("outer", inner);
        inner.initCause(outer);
        assertThat(FailureKind.of(outer)).isEqualTo(FailureKind.UNKNOWN);
    }
}

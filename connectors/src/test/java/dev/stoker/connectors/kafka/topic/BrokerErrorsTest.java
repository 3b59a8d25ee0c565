package dev.stoker.connectors.kafka.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.connectors.kafka.source.SourceTopic;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages for brokers that do not answer. */
@Timeout(120)
class BrokerErrorsTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final TopicNeeds NEEDS = new TopicNeeds(4, 50_000_000, Duration.ofHours(2), -1);

    private static ThrowingCallable feeding(String bootstrap) {
        return () -> {
            KafkaTarget target = new KafkaTarget(bootstrap, "fresh", null, false, 900_000, 917_504);
            try (TopicCheck check = new TopicCheck(target, SHORT)) {
                check.ensure(NEEDS);
            }
        };
    }

    private static ThrowingCallable ingesting(String bootstrap) {
        return () -> {
            try (SourceTopic topic = new SourceTopic(new TopicLocation(bootstrap, "fresh", null), SHORT)) {
                topic.shape();
            }
        };
    }

    private static void saysThatNobodyAnswers(ThrowingCallable asking, String bootstrap) {
        assertThatThrownBy(asking)
                .isInstanceOf(TopicException.class)
                .hasMessageStartingWith("topic fresh: no broker answers at " + bootstrap + "; check the address")
                .hasMessageNotContainingAny("Call", "node assignment", "Timed out");
    }

    @Test
    void namesTheAddressWhereNothingListens() throws Exception {
        int port;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            port = taken.getLocalPort();
        }
        saysThatNobodyAnswers(feeding("127.0.0.1:" + port), "127.0.0.1:" + port);
        saysThatNobodyAnswers(ingesting("127.0.0.1:" + port), "127.0.0.1:" + port);
    }

    @Test
    void namesTheAddressWhereSomethingElseListens() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            String bootstrap = "127.0.0.1:" + silent.getLocalPort();
            saysThatNobodyAnswers(feeding(bootstrap), bootstrap);
            saysThatNobodyAnswers(ingesting(bootstrap), bootstrap);
        }
    }

    @Test
    void namesAnAddressThatIsNone() {
        for (ThrowingCallable asking :
                new ThrowingCallable[] {feeding("no-such-host.invalid:9092"), ingesting("no-such-host.invalid:9092")}) {
            assertThatThrownBy(asking)
                    .isInstanceOf(TopicException.class)
                    .hasMessageContaining("topic fresh at no-such-host.invalid:9092 cannot be reached");
        }
    }

    @Test
    void whatBrokersSayIsSaid() {
        assertThat(BrokerErrors.of("a", "b:1", new TopicAuthorizationException("a is not yours"), "a is not yours"))
                .isExactlyInstanceOf(TopicException.class)
                .hasMessageStartingWith(
                        "a is not yours; allow the user of --kafka-config Describe and Read on the topic");
    }
}

package dev.stoker.connectors.shared;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each kind of leftovers is found, named and, except for threads, removed. */
@Timeout(120)
class LeftoversITCase {

    @RegisterExtension
    static final SharedFlink CLUSTER = SharedFlink.ofParallelism(1);

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("leftovers-");

    private final Leftovers leftovers = Leftovers.before();

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertThat(leftovers.remove(Duration.ofSeconds(20))).isEmpty();
    }

    private List<String> found() throws Exception {
        return leftovers.remove(Duration.ZERO);
    }

    @Test
    void findsJobs() throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.fromSequence(0, Long.MAX_VALUE).sinkTo(new DiscardingSink<>());
        JobClient job = env.executeAsync("endless");
        assertThat(found()).contains("jobs of the shared cluster: endless");
        assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.CANCELED);
    }

    @Test
    void findsTopics() throws Exception {
        List<NewTopic> topics =
                List.of(new NewTopic("leftovers-a", 1, (short) 1), new NewTopic("leftovers-b", 2, (short) 1));
        SharedKafka.admin().createTopics(topics).all().get();
        assertThat(found()).contains("topics of the shared broker: leftovers-a, leftovers-b");
        assertThat(SharedKafka.admin().listTopics().names().get()).isEmpty();
    }

    @Test
    void findsThreadsThatDoNotEnd() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "a thread that stays");
        thread.start();
        assertThat(found()).contains("threads: a thread that stays");
        end.countDown();
        thread.join();
    }

    @Test
    void findsPoolsOfDaemons() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, task -> {
            Thread thread = Executors.defaultThreadFactory().newThread(task);
            thread.setDaemon(true);
            return thread;
        });
        Future<?> ran = pool.submit(() -> {});
        ran.get();
        assertThat(found()).singleElement().asString().matches("threads: pool-\\d+-thread-1");
        pool.shutdown();
    }

    @Test
    void findsChangedProperties() throws Exception {
        String home = System.getProperty("user.home");
        System.setProperty("user.home", "/nowhere");
        System.setProperty("stoker.leftover", "1");
        assertThat(found()).containsExactly("system properties: stoker.leftover, user.home");
        assertThat(System.getProperty("user.home")).isEqualTo(home);
        assertThat(System.getProperty("stoker.leftover")).isNull();
    }
}

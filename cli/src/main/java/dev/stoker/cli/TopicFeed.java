package dev.stoker.cli;

import dev.stoker.feeder.FeederArguments;
import dev.stoker.feeder.kafka.KafkaArguments;
import dev.stoker.feeder.kafka.KafkaJob;
import dev.stoker.feeder.source.reader.StopSignal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** {@code stoker feed --to kafka}: writes a topic until the epochs are done or Ctrl-C; the same job as on a cluster. */
final class TopicFeed {

    private TopicFeed() {}

    static int run(KafkaArguments arguments, PrintWriter out, PrintWriter err) throws Exception {
        FeederArguments feed = arguments.feed();
        UUID id = feed.plan().id();
        err.println("stoker: starting the feed …");
        long began = System.nanoTime();
        FeedLock lock = FeedLock.take(feed.plan().name());
        try (Signals signals = new Signals()) {
            StopSignal.clear(id);
            int parallelism = feed.parallelism(1);
            StreamExecutionEnvironment env =
                    StreamExecutionEnvironment.createLocalEnvironment(parallelism, EmbeddedFeed.settings(parallelism));
            KafkaJob.build(env, arguments.plan(), feed.checkpointInterval(), parallelism);
            CompletableFuture<JobExecutionResult> result =
                    env.executeAsync("stoker feed " + feed.plan().name()).getJobExecutionResult();
            signals.onStop(StopSignal.of(id)::request);
            KafkaJob.describe(arguments).forEach(out::println);
            FeedReport.describe(feed.plan(), out);
            out.println("in Python: for batch in stoker.Feed(\"kafka://"
                    + arguments.plan().target().bootstrap() + "/"
                    + arguments.plan().target().topic() + "\"): …   (end with Ctrl-C)");
            result.get();
            out.println("done after " + Units.seconds(Duration.ofNanos(System.nanoTime() - began)));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            lock.close();
        }
        return 0;
    }
}

package dev.stoker.cli;

import dev.stoker.feeder.FeederArguments;
import dev.stoker.feeder.kafka.KafkaArguments;
import dev.stoker.feeder.kafka.KafkaJob;
import dev.stoker.feeder.kafka.TopicProgress;
import dev.stoker.feeder.source.reader.StopSignal;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code stoker feed --to kafka}: writes a topic until the epochs are done or Ctrl-C; the same job as on a cluster. */
final class TopicFeed {

    private static final Logger LOG = LoggerFactory.getLogger(TopicFeed.class);

    private TopicFeed() {}

    static int run(KafkaArguments arguments, PrintWriter out, PrintWriter err) throws Exception {
        FeederArguments feed = arguments.feed();
        UUID id = feed.plan().id();
        err.println("stoker: starting the feed …");
        long began = System.nanoTime();
        FeedLock lock = FeedLock.take(feed.plan().name());
        TopicFiles files = new TopicFiles(arguments.plan());
        boolean isPublished = false;
        try (Signals signals = new Signals()) {
            StopSignal.clear(id);
            TopicProgress.clear(id);
            int parallelism = feed.parallelism(1);
            StreamExecutionEnvironment env = EmbeddedFeed.environment(parallelism);
            KafkaJob.build(env, arguments.plan(), feed.checkpointInterval(), parallelism);
            CompletableFuture<JobExecutionResult> result =
                    env.executeAsync("stoker feed " + feed.plan().name()).getJobExecutionResult();
            signals.onStop(StopSignal.of(id)::request);
            files.publish(TopicProgress.of(id).snapshot());
            files.publish();
            isPublished = true;
            KafkaJob.describe(arguments).forEach(out::println);
            FeedReport.content(feed.plan()).forEach(out::println);
            out.println("in Python: for batch in stoker.Feed(\"kafka://"
                    + arguments.plan().target().bootstrap() + "/"
                    + arguments.plan().target().topic() + "\"): …   (end with Ctrl-C or stoker stop "
                    + feed.plan().name() + ")");
            watch(result, files, id);
            out.println("done after " + Units.seconds(Duration.ofNanos(System.nanoTime() - began)));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            if (isPublished) {
                files.withdraw();
            }
            lock.close();
        }
        return 0;
    }

    /** Waits for the end, and says each second how far the feed is. */
    private static void watch(CompletableFuture<JobExecutionResult> result, TopicFiles files, UUID id)
            throws Exception {
        boolean isOver = false;
        while (!isOver) {
            try {
                result.get(1, TimeUnit.SECONDS);
                isOver = true;
            } catch (TimeoutException e) {
                // It goes on.
            }
            try {
                files.publish(TopicProgress.of(id).snapshot());
            } catch (IOException e) {
                // A feed does not end for want of somebody to look at it.
                LOG.debug("How far the feed is cannot be said", e);
            }
        }
    }
}

package dev.stoker.cli.feed;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.running.TopicFiles;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.feeder.topic.TopicFeedJob;
import dev.stoker.feeder.topic.TopicFeedPlan;
import dev.stoker.feeder.topic.TopicProgress;
import dev.stoker.flink.failure.Outages;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code stoker feed --to kafka}: writes a topic until the epochs are done or Ctrl-C; the same job as on a cluster. */
final class TopicFeed {

    private static final Logger LOG = LoggerFactory.getLogger(TopicFeed.class);

    /** How long a feed may take to end cleanly. */
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);

    private static final int CANCEL_SECONDS = 10;

    private TopicFeed() {}

    static int run(TopicFeedPlan plan, PrintWriter out, PrintWriter err) throws Exception {
        FeedPlan feed = plan.feed();
        UUID id = feed.id();
        err.println("stoker: starting the feed …");
        long began = System.nanoTime();
        FeedLock lock = FeedLock.take(feed.name());
        TopicFiles files = new TopicFiles(plan);
        boolean isPublished = false;
        try (Signals signals = new Signals()) {
            System.setProperty(StokerHome.OWN_PROCESS, "true");
            StopSignal.clear(id);
            TopicProgress.clear(id);
            RunningJob job = TopicFeedJob.embedded(plan);
            signals.onStop(StopSignal.of(id)::request);
            files.publish(TopicProgress.of(id).snapshot());
            files.publish();
            isPublished = true;
            TopicFeedJob.warnings(plan).forEach(warning -> err.println("stoker: warning: " + warning));
            plan.lines().forEach(out::println);
            FeedText.content(feed).forEach(out::println);
            out.println("in Python: for batch in stoker.Feed(\"kafka://"
                    + plan.target().bootstrap() + "/"
                    + plan.target().topic() + "\"): …   (end with Ctrl-C or stoker stop "
                    + feed.name() + ")");
            watch(job, files, id);
            boolean isStopped = StopSignal.of(id).isRequested();
            out.println(end(
                    TopicProgress.of(id).snapshot(),
                    isStopped ? OptionalLong.of(feed.epochs()) : OptionalLong.empty(),
                    plan.lanes(),
                    Duration.ofNanos(System.nanoTime() - began)));
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

    /**
     * Returns the last line of a feed.
     *
     * @param stoppedOf the epochs of a feed that was stopped, 0 for no end; empty if it ended without a request
     */
    static String end(TopicProgress.Snapshot written, OptionalLong stoppedOf, int lanes, Duration duration) {
        long least = written.lanes().stream()
                .mapToLong(TopicProgress.Lane::epoch)
                .min()
                .orElse(0);
        boolean isWhole = stoppedOf.isEmpty()
                || (stoppedOf.getAsLong() > 0 && written.lanes().size() == lanes && least >= stoppedOf.getAsLong());
        return (isWhole ? "done after " : "stopped after ") + Units.seconds(duration)
                + (isWhole ? "" : " in epoch " + least)
                + ": wrote " + Units.plural(written.records(), "record") + " with "
                + Units.plural(written.rows(), "sample") + ", " + Units.bytes(written.bytes())
                + (isWhole ? "" : "; the same command resumes with the epoch in which the topic ends");
    }

    /** Only running tasks end cleanly; tasks that wait for brokers or for a restart do not receive the request. */
    private static void cancelIfLate(RunningJob job, long nanos) throws Exception {
        if (nanos < STOP_PATIENCE.toNanos()) {
            return;
        }
        try {
            job.cancel().get(CANCEL_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            LOG.warn("The feed was not cancelled within {} s; the process ends", CANCEL_SECONDS);
        }
        throw new CommandException("the feed did not end cleanly within " + STOP_PATIENCE.toSeconds()
                + " s and was cancelled"
                + Outages.remark()
                + "; the same command resumes with the epoch in which the topic ends");
    }

    /** Outages for the end, and publishes the feed's progress each second. */
    private static void watch(RunningJob job, TopicFiles files, UUID id) throws Exception {
        boolean isOver = false;
        long stopBegan = 0;
        while (!isOver) {
            isOver = job.ended(Duration.ofSeconds(1));
            if (!isOver && StopSignal.of(id).isRequested()) {
                stopBegan = stopBegan == 0 ? System.nanoTime() : stopBegan;
                cancelIfLate(job, System.nanoTime() - stopBegan);
            }
            try {
                files.publish(TopicProgress.of(id).snapshot());
            } catch (IOException e) {
                // A failure to publish the progress must not end the feed.
                LOG.debug("Failed to publish the feed's progress", e);
            }
        }
    }
}

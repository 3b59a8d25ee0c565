package dev.stoker.cli.ingest;

import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.output.Signals;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.ingest.topic.TopicIngestJob;
import dev.stoker.ingest.topic.TopicIngestOptions;
import dev.stoker.ingest.topic.TopicIngestProgress;
import dev.stoker.ingest.topic.TopicIngestResult;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code stoker ingest kafka://…}: commits versions from a topic until its end or Ctrl-C; the same job as on a cluster.
 */
final class TopicIngestCommand {

    private TopicIngestCommand() {}

    static int run(TopicIngestOptions options, boolean json, PrintWriter out, PrintWriter err) throws Exception {
        if (options.isDryRun()) {
            PlanReport.print(TopicIngestJob.plan(options), json, out);
            return 0;
        }
        AtomicBoolean stop = new AtomicBoolean();
        try (Signals signals = new Signals();
                ProgressLine line = new ProgressLine(err);
                JobLauncher job = TopicIngestJob.embedded(options.parallelism())) {
            signals.onStop(() -> {
                if (!stop.getAndSet(true)) {
                    err.println("stoker: making the last version …");
                }
            });
            TopicIngestResult result = TopicIngestJob.run(options, job, new Progress(err, line), stop::get);
            line.end();
            if (json) {
                out.println(IngestReport.json(result));
            } else {
                result.lines().forEach(out::println);
            }
            return 0;
        }
    }

    /** Shows the progress: one line that is overwritten, and one for every few versions. */
    private record Progress(PrintWriter err, ProgressLine line) implements IngestListener<TopicIngestProgress> {

        @Override
        public void started(String run, List<String> plan) {
            plan.forEach(err::println);
        }

        @Override
        public void progressed(TopicIngestProgress progress) {
            line.show((progress.newestVersion() == 0 ? "no version yet" : "version " + progress.newestVersion()) + ", "
                    + Units.plural(progress.samples(), "sample") + ", "
                    + Units.rate(progress.bytesPerSecond()) + ", lag " + Units.count(progress.lag())
                    + (progress.deadLetters() == 0 ? "" : ", " + Units.plural(progress.deadLetters(), "dead letter"))
                    + (progress.leftOut() == 0 ? "" : ", " + Units.count(progress.leftOut()) + " left out")
                    + (progress.waitsFor().isEmpty() ? "" : ", waits for: " + String.join("; ", progress.waitsFor())));
        }
    }
}

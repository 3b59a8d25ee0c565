package dev.stoker.cli;

import dev.stoker.ingest.stream.EmbeddedStreamJob;
import dev.stoker.ingest.stream.StreamIngest;
import dev.stoker.ingest.stream.StreamJob;
import dev.stoker.ingest.stream.StreamListener;
import dev.stoker.ingest.stream.StreamOptions;
import dev.stoker.ingest.stream.StreamProgress;
import dev.stoker.ingest.stream.StreamResult;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code stoker ingest kafka://…}: commits versions from a topic until its end or Ctrl-C; the same job as on a cluster.
 */
final class TopicIngest {

    private TopicIngest() {}

    static int run(StreamOptions options, boolean json, PrintWriter out, PrintWriter err) throws Exception {
        if (options.isDryRun()) {
            StreamIngest.plan(options).forEach(out::println);
            return 0;
        }
        AtomicBoolean stop = new AtomicBoolean();
        try (Signals signals = new Signals();
                ProgressLine line = new ProgressLine(err);
                StreamJob job = EmbeddedStreamJob.open(options.parallelism())) {
            signals.onStop(() -> {
                if (!stop.getAndSet(true)) {
                    err.println("stoker: making the last version …");
                }
            });
            StreamResult result = StreamIngest.run(options, job, new Progress(err, line), stop::get);
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
    private record Progress(PrintWriter err, ProgressLine line) implements StreamListener {

        @Override
        public void started(List<String> plan) {
            plan.forEach(err::println);
        }

        @Override
        public void progressed(StreamProgress progress) {
            double seconds = progress.elapsed().toNanos() / 1e9;
            line.show((progress.newestVersion() == 0 ? "no version yet" : "version " + progress.newestVersion()) + ", "
                    + Units.plural(progress.samples(), "sample") + ", "
                    + Units.rate(progress.bytes() / Math.max(1e-3, seconds))
                    + " on average, lag " + Units.count(progress.lag())
                    + (progress.deadLetters() == 0 ? "" : ", " + Units.plural(progress.deadLetters(), "dead letter")));
        }
    }
}

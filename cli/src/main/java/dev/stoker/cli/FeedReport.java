package dev.stoker.cli;

import dev.stoker.feeder.FeedPlan;
import dev.stoker.feeder.node.NodeMetrics;
import dev.stoker.schemas.order.OrderSpec;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** What a feed says of itself at its start and at its end. */
final class FeedReport {

    private FeedReport() {}

    static void describe(FeedPlan plan, PrintWriter out) {
        OrderSpec order = OrderSpec.fromJson(plan.order());
        for (FeedPlan.Stream stream : plan.streams()) {
            out.println("stream " + stream.name() + ": " + stream.path() + ", version " + stream.version() + ", split "
                    + stream.split() + ", " + stream.lanes() + (stream.lanes() == 1 ? " lane" : " lanes")
                    + "; chunks are read where they are");
        }
        out.println("order: batches of " + order.batchSize() + " for each rank, seed " + order.seed()
                + ", shuffle window " + Units.bytes(order.shuffleWindowBytes()) + "; trainers may ask for another");
    }

    static void print(FeedPlan plan, NodeMetrics metrics, Duration time, PrintWriter out) {
        double seconds = Math.max(0.001, time.toMillis() / 1000.0);
        out.println("feed " + plan.name() + " sent " + Units.count(metrics.rows()) + " samples in "
                + Units.count(metrics.batches()) + " messages, " + Units.bytes(metrics.bytes()) + " in "
                + Units.time(time) + " (" + Units.bytes((long) (metrics.bytes() / seconds))
                + "/s over its whole life)");
        out.println(String.format(
                Locale.ROOT,
                "stalls: trainers had nothing left to consume for %.1f %% of their subscribed time; %,d messages sent"
                        + " again, %,d samples or chunks corrupt",
                100 * metrics.trainerWaitRatio(),
                metrics.refetches(),
                metrics.corrupt()));
    }
}

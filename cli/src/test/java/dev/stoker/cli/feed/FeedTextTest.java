package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.feed.OnCorrupt;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FeedTextTest {
    private static String described(long epochs, FeedPlan.Group... groups) {
        return described(OrderSpec.defaults(), epochs, groups);
    }

    private static String described(OrderSpec order, long epochs, FeedPlan.Group... groups) {
        StringWriter out = new StringWriter();
        FeedPlan.Stream stream = new FeedPlan.Stream("train", "/d", new UUID(1, 2), 3, "train", 16, false);
        FeedText.describe(
                new FeedPlan(
                        "photos",
                        new UUID(3, 4),
                        List.of(stream),
                        order.toJson(),
                        List.of(groups),
                        epochs,
                        OnCorrupt.FAIL,
                        "",
                        0,
                        null,
                        "",
                        new FeedPlan.Work(1000, 0)),
                new PrintWriter(out, true));
        return out.toString();
    }

    @Test
    void saysForWhomEpochsCountWhereThereIsAnEnd() {
        assertThat(described(0)).doesNotContain("ends");
        assertThat(described(3))
                .contains("ends: each group of each stream has 3 epochs; the feed ends when all groups that have read"
                        + " have finished their epochs (--groups names the groups that count)");
        assertThat(described(3, new FeedPlan.Group("train", "default"), new FeedPlan.Group("train", "probe")))
                .contains("ends: each group of each stream has 3 epochs; the feed ends when train/default, train/probe"
                        + " have finished their epochs");
    }

    @Test
    void saysWhichSamplesAreLeft() {
        assertThat(described(OrderSpec.defaults().withWhere("5<n"), 0)).contains("samples: only those for which n > 5");
        assertThat(described(0)).doesNotContain("samples:");
    }
}

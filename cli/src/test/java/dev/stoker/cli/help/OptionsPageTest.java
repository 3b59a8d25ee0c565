package dev.stoker.cli.help;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Recorded;
import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.ingest.rows.options.RowIngestFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.topic.TopicIngestFlags;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.junit.jupiter.api.Test;

/** {@code docs/options.md} describes the options. */
class OptionsPageTest {

    @Test
    void eachOptionOfAJobHasOneTopic() {
        assertThat(options(HelpHeadings.INGEST)).containsExactlyInAnyOrderElementsOf(IngestFlags.all());
        List<ConfigOption<?>> sync = new ArrayList<>(SyncFlags.shared());
        sync.addAll(SyncFlags.own());
        assertThat(options(HelpHeadings.SYNC)).containsExactlyInAnyOrderElementsOf(sync);
        assertThat(options(HelpHeadings.INGEST_OF_ROWS)).containsExactlyInAnyOrderElementsOf(RowIngestFlags.own());
        assertThat(options(HelpHeadings.INGEST_FROM_KAFKA)).containsExactlyInAnyOrderElementsOf(TopicIngestFlags.all());
        assertThat(options(HelpHeadings.EXPORT)).containsExactlyInAnyOrderElementsOf(ExportFlags.all());
        assertThat(options(HelpHeadings.FEED)).containsExactlyInAnyOrderElementsOf(FeedFlags.all());
        assertThat(options(HelpHeadings.FEED_TO_KAFKA)).containsExactlyInAnyOrderElementsOf(TopicFeedFlags.all());
    }

    private static List<ConfigOption<?>> options(List<HelpHeadings.JobTopic> topics) {
        List<ConfigOption<?>> options = new ArrayList<>();
        topics.forEach(topic -> options.addAll(topic.options()));
        return options;
    }

    @Test
    void thePageDescribesTheOptions() throws IOException {
        Recorded.check(Recorded.DOCS.resolve("options.md"), page(), OptionsPageTest.class);
    }

    private static String page() {
        StringBuilder page = new StringBuilder("# Options\n\n"
                + "Generated from the code. The command line and `flink run` take the same ones: `--batch-size 64` or"
                + " `--batch-size=64`. Sizes are written as `8 MiB`, `8m` or `100 bytes`, times as `30 s`, `5 min`"
                + " or `2 h`. A number without a unit is refused, unless it is 0.\n");
        section(page, "Ingest: `stoker ingest`, `ingest-job.jar`", IngestFlags.PREFIX, HelpHeadings.INGEST);
        section(page, "Ingest of rows: `stoker ingest`", IngestFlags.PREFIX, HelpHeadings.INGEST_OF_ROWS);
        section(
                page,
                "Ingest from Kafka: `stoker ingest`, `ingest-job.jar`",
                IngestFlags.PREFIX,
                HelpHeadings.INGEST_FROM_KAFKA);
        section(page, "Sync: `stoker sync`", IngestFlags.PREFIX, HelpHeadings.SYNC);
        section(page, "Export: `stoker export`", ExportFlags.PREFIX, HelpHeadings.EXPORT);
        section(page, "Feed: `stoker feed`, `stoker run`, `feeder-job.jar`", FeedFlags.PREFIX, HelpHeadings.FEED);
        section(page, "Feed to Kafka: `stoker feed`, `feeder-job.jar`", FeedFlags.PREFIX, HelpHeadings.FEED_TO_KAFKA);
        return page.toString();
    }

    private static void section(StringBuilder page, String title, String prefix, List<HelpHeadings.JobTopic> topics) {
        page.append("\n## ").append(title).append('\n');
        topics.forEach(topic -> table(page, topic.title(), prefix, topic.options()));
    }

    private static void table(StringBuilder page, String title, String prefix, List<ConfigOption<?>> options) {
        page.append("\n### ").append(title).append("\n\n| option | default | what it does |\n| --- | --- | --- |\n");
        for (ConfigOption<?> option : options) {
            page.append("| `")
                    .append(JobOptions.flag(option, prefix))
                    .append("` | ")
                    .append(JobOptions.defaultValue(option)
                            .map(text -> "`" + text + "`")
                            .orElse(""))
                    .append(" | ")
                    .append(JobOptions.describe(option).replace("|", "\\|").replace("<", "&lt;"))
                    .append(" |\n");
        }
    }
}

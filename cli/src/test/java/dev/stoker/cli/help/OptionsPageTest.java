package dev.stoker.cli.help;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Recorded;
import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.spec.TopicIngestFlags;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code docs/options.md} describes the options. */
class OptionsPageTest {

    /** An option that no heading lists would be in neither help nor the reference. */
    @Test
    void eachOptionThatIsDeclaredHasAHeading() throws IllegalAccessException {
        Map<Class<?>, List<OptionHeading>> all = Map.of(
                IngestFlags.class, IngestFlags.headings(),
                SyncFlags.class, SyncFlags.headings(),
                RowIngestFlags.class, RowIngestFlags.headings(),
                TopicIngestFlags.class, TopicIngestFlags.headings(),
                ExportFlags.class, ExportFlags.headings(),
                FeedFlags.class, FeedFlags.headings(),
                TopicFeedFlags.class, TopicFeedFlags.headings());
        for (Map.Entry<Class<?>, List<OptionHeading>> flags : all.entrySet()) {
            List<JobOption<?>> listed = OptionHeading.options(flags.getValue());
            assertThat(listed).doesNotHaveDuplicates();
            for (Field field : flags.getKey().getFields()) {
                // Help describes the key of rows together with the key of records.
                if (field.get(null) instanceof JobOption<?> option && option != RowIngestFlags.KEY) {
                    assertThat(listed).as(flags.getKey().getSimpleName()).contains(option);
                }
            }
        }
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
        section(page, "Ingest: `stoker ingest`, `ingest-job.jar`", IngestFlags.headings());
        section(page, "Ingest of rows: `stoker ingest`", RowIngestFlags.headings());
        section(page, "Ingest from Kafka: `stoker ingest`, `ingest-job.jar`", TopicIngestFlags.headings());
        section(page, "Sync: `stoker sync`", SyncFlags.headings());
        section(page, "Export: `stoker export`", ExportFlags.headings());
        section(page, "Feed: `stoker feed`, `stoker run`, `feeder-job.jar`", FeedFlags.headings());
        section(page, "Feed to Kafka: `stoker feed`, `feeder-job.jar`", TopicFeedFlags.headings());
        return page.toString();
    }

    private static void section(StringBuilder page, String title, List<OptionHeading> headings) {
        page.append("\n## ").append(title).append('\n');
        headings.forEach(heading -> table(page, heading));
    }

    private static void table(StringBuilder page, OptionHeading heading) {
        page.append("\n### ")
                .append(heading.title())
                .append("\n\n| option | default | what it does |\n| --- | --- | --- |\n");
        for (JobOption<?> option : heading.options()) {
            page.append("| `")
                    .append(option.flag())
                    .append("` | ")
                    .append(option.defaultText().map(text -> "`" + text + "`").orElse(""))
                    .append(" | ")
                    .append(option.description().replace("|", "\\|").replace("<", "&lt;"))
                    .append(" |\n");
        }
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.kafka.KafkaOptions;
import dev.stoker.feeder.plan.FeederOptions;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.topic.TopicFlags;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.junit.jupiter.api.Test;

/**
 * Checks that {@code docs/options.md} describes the options; with {@code -Dstoker.write-docs=true} this writes the
 * page.
 */
class OptionsPageTest {

    private static final Path PAGE = Path.of("..", "docs", "options.md");

    @Test
    void thePageIsThatOfTheOptions() throws IOException {
        String page = page();
        if (Boolean.getBoolean("stoker.write-docs")) {
            Files.writeString(PAGE, page);
        }
        assertThat(PAGE)
                .as("docs/options.md is stale: ./mvnw -pl cli -am -Dtest=OptionsPageTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -Dstoker.write-docs=true test")
                .hasContent(page);
    }

    private static String page() {
        StringBuilder page = new StringBuilder("# Options\n\n"
                + "Generated from the code. The command line and `flink run` take the same ones: `--batch-size 64` or"
                + " `--batch-size=64`. Sizes are written as `8 mb`, times as `30 s`.\n");
        table(page, "Ingest: `stoker ingest`, `ingest-job.jar`", IngestFlags.PREFIX, IngestFlags.all());
        table(page, "Ingest from Kafka: `stoker ingest`, `ingest-job.jar`", IngestFlags.PREFIX, TopicFlags.all());
        table(page, "Feed: `stoker feed`, `stoker run`, `feeder-job.jar`", FeederOptions.PREFIX, FeederOptions.all());
        table(page, "Feed to Kafka: `stoker feed`, `feeder-job.jar`", FeederOptions.PREFIX, KafkaOptions.all());
        return page.toString();
    }

    private static void table(StringBuilder page, String title, String prefix, List<ConfigOption<?>> options) {
        page.append("\n## ").append(title).append("\n\n| option | default | what it does |\n| --- | --- | --- |\n");
        for (ConfigOption<?> option : options) {
            page.append("| `")
                    .append(JobOptions.flag(option, prefix))
                    .append("` | ")
                    .append(JobOptions.defaultValue(option)
                            .map(text -> "`" + text + "`")
                            .orElse(""))
                    .append(" | ")
                    .append(JobOptions.describe(option).replace("|", "\\|").replace("<", "\\<"))
                    .append(" |\n");
        }
    }
}

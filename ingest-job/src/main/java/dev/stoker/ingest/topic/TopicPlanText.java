package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Describes the plan of a topic ingest as text. */
final class TopicPlanText {

    private TopicPlanText() {}

    static List<String> of(TopicIngestOptions options, TopicPreparation preparation) {
        List<String> lines = new ArrayList<>();
        lines.add(
                "from:    " + options.topic() + ", " + count(preparation.shape().partitions(), "partition"));
        lines.add("to:      " + options.target()
                + (preparation.base().version() == 0
                        ? ", a new dataset"
                        : ", after version " + preparation.base().version()));
        lines.add("values:  " + options.value().kind().name().toLowerCase(Locale.ROOT) + "; keys: "
                + (options.mapping().keys().areOwn() ? "the records' own" : "topic-partition-offset"));
        List<String> fields = new ArrayList<>();
        for (Field field : preparation.info().fields()) {
            fields.add(field.name() + ": " + field.type().canonical() + (field.nullable() ? "?" : "")
                    + (field.payload() ? " (payload)" : ""));
        }
        lines.add("fields:  " + String.join(", ", fields));
        lines.add((preparation.committed().next().isEmpty() ? "begins:  " : "resumes: ")
                + TopicPosition.text(preparation.start())
                + ", " + Units.count(preparation.waiting()) + " to read");
        lines.add(
                options.reach().until() == TopicIngestOptions.Until.LATEST
                        ? "ends:    " + TopicPosition.text(preparation.end())
                        : "versions: one every "
                                + options.work().commitInterval().toMillis() / 1000.0
                                + " s if there are samples; Ctrl-C makes the last one");
        if (options.mapping().keys() == TopicRun.Keys.CHANGES) {
            lines.add("note:    the last record of a key replaces the sample of that key"
                    + (options.deadLetters().leftOut().contains(RecordsLeftOut.TOMBSTONES)
                            ? ""
                            : ", and a record without a value deletes it"));
        }
        if (options.deadLetters().leftOut().contains(RecordsLeftOut.DUPLICATES)) {
            lines.add("note:    records whose key a sample already has are left out");
        }
        preparation.notes().forEach(note -> lines.add("note:    " + note));
        return lines;
    }

    private static String count(int n, String thing) {
        return n + " " + thing + (n == 1 ? "" : "s");
    }
}

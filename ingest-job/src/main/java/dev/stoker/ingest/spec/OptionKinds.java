package dev.stoker.ingest.spec;

import dev.stoker.flink.arguments.JobKind;
import dev.stoker.flink.arguments.JobOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Finds the options of {@code stoker ingest} that a kind of sources has, and those that it lacks. An ingest refuses the
 * latter and says what to use there.
 */
public final class OptionKinds {
    /** What an ingest packs. */
    public enum Kind implements JobKind {
        FILES("trees of files"),
        ROWS("rows"),
        TOPIC("topics");

        private final String plural;

        Kind(String plural) {
            this.plural = plural;
        }

        @Override
        public String plural() {
            return plural;
        }
    }

    private OptionKinds() {}

    /** Returns the options that a kind has. */
    public static List<JobOption<?>> of(Kind kind) {
        List<JobOption<?>> options = new ArrayList<>(IngestFlags.all());
        options.addAll(kind == Kind.TOPIC ? TopicIngestFlags.all() : RowIngestFlags.all());
        options.removeIf(option -> !option.isFor(kind));
        return options;
    }

    /** Returns the options that a kind lacks, with the refusal of each. */
    public static Map<JobOption<?>, String> others(Kind kind) {
        List<JobOption<?>> options = new ArrayList<>(IngestFlags.all());
        options.addAll(TopicIngestFlags.all());
        // Without the key of rows: the option of topics with the same name is for both.
        RowIngestFlags.headings().forEach(heading -> options.addAll(heading.options()));
        Map<JobOption<?>, String> others = new LinkedHashMap<>();
        for (JobOption<?> option : options) {
            if (!option.isFor(kind)) {
                others.put(option, refusal(option, kind));
            }
        }
        return others;
    }

    private static String refusal(JobOption<?> option, Kind kind) {
        String of = option.kinds().stream().map(JobKind::plural).collect(Collectors.joining(" and for "));
        return "option " + option.flag() + " is for " + of + ", not for " + kind.plural + "; "
                + option.instead(kind).orElse("leave it out");
    }
}

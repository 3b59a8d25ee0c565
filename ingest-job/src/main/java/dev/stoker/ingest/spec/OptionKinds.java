package dev.stoker.ingest.spec;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/**
 * The kinds of sources that have an option of {@code stoker ingest}, for the options that not all kinds have. An ingest
 * of another kind refuses the option and says what to use there.
 */
public final class OptionKinds {
    /** What an ingest packs. */
    public enum Kind {
        FILES("trees of files"),
        ROWS("rows"),
        TOPIC("topics");

        private final String plural;

        Kind(String plural) {
            this.plural = plural;
        }
    }

    private static final String LEAVE_OUT = "leave it out";
    private static final List<OptionKinds> ALL = new ArrayList<>();

    static {
        of(Kind.FILES, "label-from")
                .at(Kind.ROWS, "--label COLUMN names the column with the class")
                .at(Kind.TOPIC, "--schema FIELD:categorical makes a field the class");
        of(Kind.FILES, "label-field")
                .at(Kind.ROWS, "--rename COLUMN=FIELD names the field of a column")
                .at(Kind.TOPIC, "--schema FIELD:categorical makes a field the class");
        of(Kind.FILES, "sidecar")
                .at(Kind.ROWS, "--read COLUMN=FIELD reads the files that a column names")
                .at(Kind.TOPIC, "--header NAME=FIELD makes a header of the records a field");
        of(Kind.FILES, "split-from")
                .at(Kind.ROWS, "--split-by COLUMN names the column with the split")
                .at(Kind.TOPIC, "--split NAME=SHARE divides the samples");
        of(Kind.FILES, "limit")
                .at(Kind.ROWS, "--where CONDITION selects rows")
                .at(Kind.TOPIC, "--until latest ends at the present end of the topic");
        of(Kind.FILES, "exclude-keys-from")
                .at(Kind.ROWS, "--where CONDITION selects rows, as in --where \"id NOT IN (3, 5)\"");
        of(Kind.FILES, "read-threads").at(Kind.ROWS, "--parallelism N sets the number of tasks");
        of(Kind.FILES, "read-ahead").at(Kind.ROWS, "--parallelism N sets the number of tasks");
        of(EnumSet.of(Kind.FILES, Kind.TOPIC), "field")
                .at(Kind.ROWS, "--rename COLUMN=FIELD names the field of a column");

        Set<Kind> trees = EnumSet.of(Kind.FILES, Kind.ROWS);
        for (String option : List.of("order", "ingest-seed", "links", "hidden", "empty", "include", "exclude")) {
            of(trees, option);
        }
        of(trees, "on-error").at(Kind.TOPIC, "--max-dead-letters N sets how many records may fail");
        of(trees, "replace").isSwitch = true;
        of(trees, "ingest-id")
                .at(
                        Kind.TOPIC,
                        LEAVE_OUT + ": a topic's position is in the dataset, and the same command resumes there");

        for (String option : List.of("columns", "type", "without")) {
            ofRows(option).at(Kind.TOPIC, "--schema FIELD:TYPE names the fields and their types");
        }
        ofRows("label").at(Kind.TOPIC, "--schema FIELD:categorical makes a field the class");
        ofRows("split-by").at(Kind.TOPIC, "--split NAME=SHARE divides the samples");
        of(trees, "format").at(Kind.TOPIC, "--value FORMAT names the format of the records");
        for (String option : List.of("rename", "read", "read-root", "where", "part-memory", "sort-memory")) {
            ofRows(option);
        }
        of(EnumSet.of(Kind.ROWS, Kind.TOPIC), "key").at(Kind.FILES, "the key is the path of the file; " + LEAVE_OUT);

        of(Kind.TOPIC, "value").at(Kind.ROWS, "--format FORMAT names the format of the source");
        of(Kind.TOPIC, "schema").at(Kind.ROWS, "--type COLUMN=TYPE names the type of a column");
        of(Kind.TOPIC, "allow-gap").isSwitch = true;
        for (String option : List.of(
                "commit-interval",
                "from",
                "until",
                "tombstones",
                "key-field",
                "header",
                "timestamp",
                "avro-schema",
                "avro-wire",
                "schema-registry",
                "dead-letters",
                "max-dead-letters",
                "kafka-config")) {
            of(Kind.TOPIC, option);
        }
    }

    private final String name;
    private final Set<Kind> kinds;
    private final Map<Kind, String> instead = new EnumMap<>(Kind.class);
    private boolean isSwitch;

    private OptionKinds(Set<Kind> kinds, String name) {
        this.name = name;
        this.kinds = kinds;
    }

    private static OptionKinds of(Kind kind, String name) {
        return of(EnumSet.of(kind), name);
    }

    private static OptionKinds of(Set<Kind> kinds, String name) {
        OptionKinds option = new OptionKinds(kinds, name);
        ALL.add(option);
        return option;
    }

    /** Only a user who gives {@code --format files} has another kind with an option of rows. */
    private static OptionKinds ofRows(String name) {
        return of(Kind.ROWS, name).at(Kind.FILES, "leave out --format files to pack rows");
    }

    private OptionKinds at(Kind kind, String text) {
        instead.put(kind, text);
        return this;
    }

    /** Returns the options that a kind lacks, with the refusal of each. */
    public static Map<ConfigOption<?>, String> others(Kind kind) {
        Map<ConfigOption<?>, String> others = new LinkedHashMap<>();
        for (OptionKinds option : ALL) {
            if (!option.kinds.contains(kind)) {
                others.put(option.config(), option.refusal(kind));
            }
        }
        return others;
    }

    private ConfigOption<?> config() {
        ConfigOptions.OptionBuilder builder = ConfigOptions.key(IngestFlags.PREFIX + name);
        return isSwitch
                ? builder.booleanType().defaultValue(false)
                : builder.stringType().noDefaultValue();
    }

    private String refusal(Kind kind) {
        String of = kinds.stream().map(known -> known.plural).collect(Collectors.joining(" and for "));
        return "option --" + name + " is for " + of + ", not for " + kind.plural + "; "
                + instead.getOrDefault(kind, LEAVE_OUT);
    }
}

package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.PathPattern;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

/**
 * Reads and checks the options that ingests of trees and of topics share. Knows the fields of one ingest, so each
 * parser needs its own. For one thread.
 */
public final class GivenFlags {

    private static final long MIN_CHUNK_BYTES = 4096;
    private static final long MAX_CHUNK_BYTES = 1L << 30;

    private final Configuration given;
    private final Consumer<String> problems;
    private final Set<String> fields = new HashSet<>();

    /** @param problems receives one sentence for each problem */
    public GivenFlags(Configuration given, Consumer<String> problems) {
        this.given = given;
        this.problems = problems;
    }

    /** Returns the value of an option that is one of some values; the first of them if it is not. */
    public String choice(ConfigOption<String> option, String... values) {
        String value = given.get(option);
        if (!Arrays.asList(values).contains(value)) {
            problems.accept("option " + flag(option) + ": " + value + " is not " + String.join(" or ", values));
            return values[0];
        }
        return value;
    }

    /** Returns the value of an option that is a constant of an enum in lower case; the first one if it is not. */
    public <E extends Enum<E>> E choice(Class<E> type, ConfigOption<String> option) {
        E[] constants = type.getEnumConstants();
        String[] values = Arrays.stream(constants)
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toArray(String[]::new);
        return constants[Arrays.asList(values).indexOf(choice(option, values))];
    }

    /** Returns the patterns of {@code --include} and {@code --exclude}, and the keys of {@code --exclude-keys-from}. */
    public NameFilter names() {
        return new NameFilter(patterns(IngestFlags.INCLUDE), patterns(IngestFlags.EXCLUDE), excludedKeys());
    }

    private Set<String> excludedKeys() {
        Set<String> keys = new HashSet<>();
        for (String file : given.get(IngestFlags.EXCLUDE_KEYS_FROM)) {
            if (file.equals(KeyFile.STANDARD_INPUT)) {
                // The options are read several times.
                problems.accept("option " + flag(IngestFlags.EXCLUDE_KEYS_FROM)
                        + ": an ingest does not read keys from standard input; write them to a file");
                continue;
            }
            try {
                KeyFile.read(file, '\n', keys);
            } catch (IOException e) {
                problems.accept("option " + flag(IngestFlags.EXCLUDE_KEYS_FROM) + ": " + ErrorText.of(e));
            }
        }
        return keys;
    }

    private List<PathPattern> patterns(ConfigOption<List<String>> option) {
        List<PathPattern> patterns = new ArrayList<>();
        for (String text : given.get(option)) {
            try {
                patterns.add(PathPattern.of(text.startsWith("./") ? text.substring(2) : text));
            } catch (IllegalArgumentException e) {
                problems.accept("option " + flag(option) + ": " + e.getMessage());
            }
        }
        return patterns;
    }

    /** Returns the order of {@code --order}. */
    public WalkOrder order() {
        return choice(IngestFlags.ORDER, "shuffled", "listed").equals("listed")
                ? new WalkOrder.Listed()
                : new WalkOrder.Shuffled(given.get(IngestFlags.SEED));
    }

    /** Returns the effect of {@code --append} and {@code --replace}. */
    public IngestRun.Effect effect() {
        boolean append = given.get(IngestFlags.APPEND);
        boolean replace = given.get(IngestFlags.REPLACE);
        if (append && replace) {
            problems.accept("--append and --replace cannot be given together; leave one out");
        }
        return append ? IngestRun.Effect.APPEND : replace ? IngestRun.Effect.REPLACE : IngestRun.Effect.CREATE;
    }

    /** Returns the value of {@code --on-duplicate}. */
    public OnDuplicate onDuplicate(WalkOrder order) {
        OnDuplicate onDuplicate = choice(OnDuplicate.class, IngestFlags.ON_DUPLICATE);
        if (onDuplicate != OnDuplicate.FAIL && order instanceof WalkOrder.Listed) {
            problems.accept("option --on-duplicate: " + given.get(IngestFlags.ON_DUPLICATE)
                    + " needs --order shuffled, which compares the keys before it packs the samples");
        }
        return onDuplicate;
    }

    /** Returns the id of {@code --ingest-id}; empty if the option is not given. */
    public Optional<String> ingestId() {
        Optional<String> id = given.getOptional(IngestFlags.INGEST_ID);
        id.ifPresent(text -> {
            try {
                if (!UUID.fromString(text).toString().equals(text)) {
                    problems.accept("option --ingest-id: " + text + " does not have the form that an ingest prints");
                }
            } catch (IllegalArgumentException e) {
                problems.accept("option --ingest-id: " + text
                        + " is not an id; give the one that the interrupted ingest printed");
            }
        });
        return id;
    }

    /**
     * Adds a field to the fields of the ingest.
     *
     * @param option the option that names the field
     * @return whether name and type are valid and no other field has the name
     */
    public boolean addField(ConfigOption<?> option, String name, String type) {
        try {
            new Field(name, FieldType.parse(type), false, false);
        } catch (IllegalArgumentException e) {
            problems.accept("option " + flag(option) + ": " + e.getMessage());
            return false;
        }
        if (!fields.add(name)) {
            problems.accept("option " + flag(option) + ": two fields are named " + name + "; rename one of them");
            return false;
        }
        return true;
    }

    /** Returns the names of {@code --payload}, without {@code none}; empty if the option is not given. */
    public Optional<List<String>> payload() {
        return given.getOptional(IngestFlags.PAYLOAD)
                .map(list -> list.stream()
                        .flatMap(text -> Arrays.stream(text.split(",")))
                        .map(String::strip)
                        .filter(name -> !name.equals("none"))
                        .toList());
    }

    /** Returns the bytes of {@code --chunk-size}; empty if the option is not given. */
    public OptionalInt chunkBytes() {
        long bytes = given.get(IngestFlags.CHUNK_SIZE).getBytes();
        if (bytes < MIN_CHUNK_BYTES || bytes > MAX_CHUNK_BYTES) {
            problems.accept("option --chunk-size: " + bytes + " bytes is not between 4 kb and 1 gb");
        }
        return given.contains(IngestFlags.CHUNK_SIZE)
                ? OptionalInt.of((int) Math.min(bytes, MAX_CHUNK_BYTES))
                : OptionalInt.empty();
    }

    /** Returns the number of {@code --parallelism}; empty if the option is not given. */
    public OptionalInt parallelism() {
        Optional<Integer> parallelism = given.getOptional(IngestFlags.PARALLELISM);
        parallelism
                .filter(p -> p < 1 || p > 32768)
                .ifPresent(p -> problems.accept("option --parallelism: " + p + " is not between 1 and 32768"));
        return parallelism.map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    private static String flag(ConfigOption<?> option) {
        return JobArguments.flag(option, IngestFlags.PREFIX);
    }
}

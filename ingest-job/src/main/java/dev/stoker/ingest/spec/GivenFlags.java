package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.PathPattern;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.configuration.MemorySize;

/**
 * Reads and checks the options that ingests of trees and of topics share. Knows the fields of one ingest, so each
 * parser needs its own. For one thread.
 */
public final class GivenFlags {

    private final GivenOptions given;
    private final Consumer<String> problems;
    private final Set<String> fields = new HashSet<>();

    /** @param problems receives one sentence for each problem */
    public GivenFlags(GivenOptions given, Consumer<String> problems) {
        this.given = given;
        this.problems = problems;
    }

    /** Returns the value of an option that is one of some values; the first of them if it is not. */
    public String choice(JobOption<String> option, String... values) {
        return given.choice(option, List.of(values), problems);
    }

    /** Returns the value of an option that was declared with some values; the first of them if it is another one. */
    public String choice(JobOption<String> option) {
        return given.choice(option, option.values(), problems);
    }

    /** Returns the value of an option that was declared with an enum; the first constant if it is another value. */
    public <E extends Enum<E>> E choice(Class<E> type, JobOption<String> option) {
        return given.choice(type, option, problems);
    }

    /** Returns the value of an option with a range, and reports a value outside of it. */
    public <T> T checked(JobOption<T> option) {
        given.check(option, problems);
        return given.get(option);
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
                problems.accept("option " + IngestFlags.EXCLUDE_KEYS_FROM.flag()
                        + ": an ingest does not read keys from standard input; write them to a file");
                continue;
            }
            try {
                KeyFile.read(file, '\n', keys);
            } catch (IOException e) {
                problems.accept("option " + IngestFlags.EXCLUDE_KEYS_FROM.flag() + ": " + ErrorText.of(e));
            }
        }
        return keys;
    }

    private List<PathPattern> patterns(JobOption<List<String>> option) {
        List<PathPattern> patterns = new ArrayList<>();
        for (String text : given.get(option)) {
            try {
                patterns.add(PathPattern.of(text.startsWith("./") ? text.substring(2) : text));
            } catch (IllegalArgumentException e) {
                problems.accept("option " + option.flag() + ": " + e.getMessage());
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
    public boolean addField(JobOption<?> option, String name, String type) {
        try {
            new Field(name, FieldType.parse(type), false, false);
        } catch (IllegalArgumentException e) {
            problems.accept("option " + option.flag() + ": " + e.getMessage());
            return false;
        }
        if (!fields.add(name)) {
            problems.accept("option " + option.flag() + ": two fields are named " + name + "; rename one of them");
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
        MemorySize size = checked(IngestFlags.CHUNK_SIZE);
        return given.contains(IngestFlags.CHUNK_SIZE)
                ? OptionalInt.of((int) IngestFlags.CHUNK_SIZE.nearest(size))
                : OptionalInt.empty();
    }

    /** Returns the number of {@code --parallelism}; empty if the option is not given. */
    public OptionalInt parallelism() {
        given.check(IngestFlags.PARALLELISM, problems);
        return given.getOptional(IngestFlags.PARALLELISM).map(OptionalInt::of).orElse(OptionalInt.empty());
    }
}

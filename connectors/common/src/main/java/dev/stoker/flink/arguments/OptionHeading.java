package dev.stoker.flink.arguments;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ConfigOptions.OptionBuilder;
import org.apache.flink.configuration.ConfigOptions.TypedConfigOptionBuilder;
import org.apache.flink.configuration.MemorySize;

/**
 * A heading under which help lists options. It declares them: help, man pages and the reference have the order of the
 * declarations.
 */
public final class OptionHeading {
    private static final String NUMBER = "N";

    private final String prefix;
    private final String title;
    private final Set<JobKind> kinds = new LinkedHashSet<>();
    private final Map<JobKind, String> instead = new LinkedHashMap<>();
    private final List<JobOption<?>> options = new ArrayList<>();

    /**
     * Creates a heading.
     *
     * @param prefix common prefix of the options' keys, with its dot
     * @param title without a colon
     * @param kinds of the jobs that have the options, if these do not declare others; by default all
     */
    public OptionHeading(String prefix, String title, JobKind... kinds) {
        this.prefix = prefix;
        this.title = title;
        this.kinds.addAll(List.of(kinds));
    }

    /** Sets what messages recommend if an option of this heading is given to a job of another kind. */
    public OptionHeading instead(JobKind kind, String text) {
        instead.put(kind, text);
        return this;
    }

    /** Returns the options of some headings. */
    public static List<JobOption<?>> options(List<OptionHeading> headings) {
        List<JobOption<?>> all = new ArrayList<>();
        headings.forEach(heading -> all.addAll(heading.options));
        return all;
    }

    /** Returns a heading with a part of the options, for a command that does not have all of them. */
    public OptionHeading without(JobOption<?> option) {
        OptionHeading part = named(title);
        part.options.remove(option);
        return part;
    }

    /** Returns a heading with the same options and another title. */
    public OptionHeading named(String other) {
        OptionHeading named = new OptionHeading(prefix, other);
        named.options.addAll(options);
        return named;
    }

    /** Returns the title, without a colon. */
    public String title() {
        return title;
    }

    /** Returns the options in the order in which help lists them. */
    public List<JobOption<?>> options() {
        return List.copyOf(options);
    }

    Set<JobKind> kinds() {
        return kinds;
    }

    Map<JobKind, String> instead() {
        return instead;
    }

    /**
     * Declares an option with a text.
     *
     * @param name without hyphens in front
     * @param label says what the text means
     */
    public OptionDeclaration<String> text(String name, String label) {
        return declare(name, label, key(name).stringType());
    }

    /** Declares an option with one of a few values. */
    public OptionDeclaration<String> choice(String name, String... values) {
        return new OptionDeclaration<>(
                this,
                name,
                String.join("|", values),
                List.of(values),
                typed(key(name).stringType()),
                options::add);
    }

    /** Declares an option with one of the constants of an enum, in lower case. */
    public OptionDeclaration<String> choice(String name, Class<? extends Enum<?>> constants) {
        return choice(
                name,
                Arrays.stream(constants.getEnumConstants())
                        .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                        .toArray(String[]::new));
    }

    /** Declares an option with a text that can be repeated. */
    public OptionDeclaration<List<String>> texts(String name, String label) {
        return new OptionDeclaration<>(
                this,
                name,
                label,
                List.of(),
                none -> key(name).stringType().asList().defaultValues(),
                options::add);
    }

    /** Declares an option without a value. */
    public OptionDeclaration<Boolean> flag(String name) {
        return declare(name, "", key(name).booleanType()).defaultValue(false);
    }

    /** Declares an option with a number of 32 bits. */
    public OptionDeclaration<Integer> number(String name) {
        return declare(name, NUMBER, key(name).intType());
    }

    /** Declares an option with a number of 64 bits. */
    public OptionDeclaration<Long> longNumber(String name) {
        return declare(name, NUMBER, key(name).longType());
    }

    /** Declares an option with a number of bytes. */
    public OptionDeclaration<MemorySize> size(String name) {
        return declare(name, "SIZE", key(name).memoryType());
    }

    /** Declares an option with a time. */
    public OptionDeclaration<Duration> time(String name) {
        return declare(name, "TIME", key(name).durationType());
    }

    private OptionBuilder key(String name) {
        return ConfigOptions.key(prefix + name);
    }

    private <T> OptionDeclaration<T> declare(String name, String label, TypedConfigOptionBuilder<T> type) {
        return new OptionDeclaration<>(this, name, label, List.of(), typed(type), options::add);
    }

    private static <T> Function<Optional<T>, ConfigOption<T>> typed(TypedConfigOptionBuilder<T> type) {
        return value -> value.map(type::defaultValue).orElseGet(type::noDefaultValue);
    }
}

package dev.stoker.flink.arguments;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.jspecify.annotations.Nullable;

/**
 * An option of a job: its only declaration. Parsers, help, completion, man pages and the reference read it. An {@link
 * OptionHeading} declares it.
 */
public final class JobOption<T> {
    private final ConfigOption<T> config;
    private final String flag;
    private final String label;
    private final String description;
    private final List<String> values;
    private final @Nullable OptionRange range;
    private final Set<JobKind> kinds;
    private final Map<JobKind, String> instead;

    JobOption(OptionDeclaration<T> declared, ConfigOption<T> config, String description) {
        this.config = config;
        this.description = description;
        flag = declared.flag();
        label = declared.label();
        values = declared.values();
        range = declared.range();
        kinds = declared.kinds();
        instead = declared.instead();
        if (range != null && config.hasDefaultValue() && !range.contains(config.defaultValue())) {
            throw new IllegalArgumentException("the default of " + flag + " is not one of its values");
        }
    }

    /** Flink's option. */
    ConfigOption<T> config() {
        return config;
    }

    /** The key in Flink's configuration, such as {@code feeder.batch-size}. */
    public String key() {
        return config.key();
    }

    /** The form on the command line, such as {@code --batch-size}. */
    public String flag() {
        return flag;
    }

    public T defaultValue() {
        return config.defaultValue();
    }

    /** The default as help shows it; empty if the default is off or no value. */
    public Optional<String> defaultText() {
        return config.hasDefaultValue() && !isSwitch() && !isList()
                ? Optional.of(OptionValues.text(config.defaultValue()))
                : Optional.empty();
    }

    /** What help shows behind the equals sign: {@code N} for numbers, or the values; empty for a switch. */
    public String label() {
        return label;
    }

    /** What the option does, in whole sentences. */
    public String description() {
        return description;
    }

    /** The values of an option that has one of a few; empty for other options. */
    public List<String> values() {
        return values;
    }

    /** Whether the option needs no value. */
    public boolean isSwitch() {
        return config.defaultValue() instanceof Boolean;
    }

    /** Whether the option can be repeated. */
    boolean isList() {
        return config.defaultValue() instanceof List<?>;
    }

    /** Whether jobs of a kind have the option. */
    public boolean isFor(JobKind kind) {
        return kinds.isEmpty() || kinds.contains(kind);
    }

    /** The kinds of jobs that have the option; empty for all kinds. */
    public Set<JobKind> kinds() {
        return kinds;
    }

    /** What to do in a job of a kind that does not have the option; empty if there is nothing to say. */
    public Optional<String> instead(JobKind kind) {
        return Optional.ofNullable(instead.get(kind));
    }

    /** Returns the problem with a value outside of the range of the option; empty for a valid value. */
    public Optional<String> problem(T value) {
        return range == null ? Optional.empty() : range.problem(value).map(text -> "option " + flag + ": " + text);
    }

    /** Returns the valid number that is nearest to a value of an option with a range. */
    public long nearest(T value) {
        if (range == null) {
            throw new IllegalStateException(flag + " has no range");
        }
        return range.nearest(value);
    }

    @Override
    public String toString() {
        return flag;
    }
}

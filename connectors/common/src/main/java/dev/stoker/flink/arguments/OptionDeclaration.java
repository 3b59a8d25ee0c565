package dev.stoker.flink.arguments;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.jspecify.annotations.Nullable;

/** The declaration of an option until its description, which comes last. For one use. */
public final class OptionDeclaration<T> {
    private final String flag;
    private final String label;
    private final List<String> values;
    private final Consumer<JobOption<T>> declared;
    private final Function<Optional<T>, ConfigOption<T>> type;
    private final Map<JobKind, String> instead = new LinkedHashMap<>();
    private Set<JobKind> kinds;
    private @Nullable T defaultValue;
    private @Nullable OptionRange range;

    OptionDeclaration(
            OptionHeading heading,
            String name,
            String label,
            List<String> values,
            Function<Optional<T>, ConfigOption<T>> type,
            Consumer<JobOption<T>> declared) {
        this.flag = "--" + name;
        this.label = label;
        this.values = values;
        this.type = type;
        this.declared = declared;
        kinds = heading.kinds();
        instead.putAll(heading.instead());
    }

    /** Sets the default. An option without one has no value if it is not given. */
    public OptionDeclaration<T> defaultValue(T value) {
        defaultValue = value;
        return this;
    }

    /** Limits the value. Sizes count as bytes, times as milliseconds. */
    public OptionDeclaration<T> within(long least, long most) {
        return within(least, most, "is not between " + least + " and " + most);
    }

    /**
     * Limits the value. Sizes count as bytes, times as milliseconds.
     *
     * @param problem what a message says behind another value
     */
    public OptionDeclaration<T> within(long least, long most, String problem) {
        range = new OptionRange(least, most, problem);
        return this;
    }

    /**
     * Limits the value at one end.
     *
     * @param problem what a message says behind another value
     */
    public OptionDeclaration<T> atLeast(long least, String problem) {
        return within(least, Long.MAX_VALUE, problem);
    }

    /** Sets the kinds of jobs that have the option. By default, these are the kinds of its heading. */
    public OptionDeclaration<T> of(JobKind... of) {
        kinds = new LinkedHashSet<>(List.of(of));
        return this;
    }

    /** Sets what messages recommend if the option is given to a job of a kind that does not have it. */
    public OptionDeclaration<T> instead(JobKind kind, String text) {
        instead.put(kind, text);
        return this;
    }

    /** Ends the declaration with whole sentences that say what the option does. */
    public JobOption<T> withDescription(String description) {
        ConfigOption<T> config = type.apply(Optional.ofNullable(defaultValue));
        JobOption<T> option = new JobOption<>(this, config.withDescription(description), description);
        declared.accept(option);
        return option;
    }

    String flag() {
        return flag;
    }

    String label() {
        return label;
    }

    List<String> values() {
        return values;
    }

    @Nullable
    OptionRange range() {
        return range;
    }

    Set<JobKind> kinds() {
        return kinds;
    }

    Map<JobKind, String> instead() {
        return instead;
    }
}

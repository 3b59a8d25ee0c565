package dev.stoker.flink.arguments;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;

/** The values of the options that were given to a job, and the defaults of the others. */
public final class GivenOptions {
    private final Configuration values;

    GivenOptions(Configuration values) {
        this.values = values;
    }

    /** Returns the value of an option: the given one, or the default. */
    public <T> T get(JobOption<T> option) {
        return values.get(option.config());
    }

    /** Returns the value of an option that was given. */
    public <T> Optional<T> getOptional(JobOption<T> option) {
        return values.getOptional(option.config());
    }

    /** Returns whether an option was given. */
    public boolean contains(JobOption<?> option) {
        return values.contains(option.config());
    }

    /** Sets an option as if it had been given. */
    public <T> void set(JobOption<T> option, T value) {
        values.set(option.config(), value);
    }

    /** Reports the value of an option if it is outside of its range. */
    public <T> void check(JobOption<T> option, Consumer<String> problems) {
        T value = get(option);
        if (value != null) {
            option.problem(value).ifPresent(problems);
        }
    }

    /** Returns the value of an option that has one of a few; reports any other value and returns the first one. */
    public String choice(JobOption<String> option, List<String> values, Consumer<String> problems) {
        String value = get(option);
        if (!values.contains(value)) {
            problems.accept("option " + option.flag() + ": " + value + " is not " + String.join(" or ", values));
            return values.get(0);
        }
        return value;
    }

    /** Returns the value of an option that was declared with an enum; reports any other value. */
    public <E extends Enum<E>> E choice(Class<E> type, JobOption<String> option, Consumer<String> problems) {
        return type.getEnumConstants()[option.values().indexOf(choice(option, option.values(), problems))];
    }
}

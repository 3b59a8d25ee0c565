package dev.stoker.cli.browse;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The parameters of a request. Wrong ones throw {@link IllegalArgumentException}, whose message is the answer. */
public final class Parameters {

    private final Map<String, String> values = new HashMap<>();

    /** @param query the query of the URL, without its question mark */
    Parameters(String query) {
        for (String part : query.isEmpty() ? new String[0] : query.split("&", -1)) {
            int equals = part.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("expected parameters such as limit=48");
            }
            String name = decode(part.substring(0, equals));
            if (values.put(name, decode(part.substring(equals + 1))) != null) {
                throw new IllegalArgumentException("a parameter was given twice");
            }
        }
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** Returns a text; empty if it is missing or has no characters. */
    public Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name)).filter(value -> !value.isEmpty());
    }

    boolean isSet(String name) {
        return text(name).filter("1"::equals).isPresent();
    }

    /** Returns a number that is not negative; empty if it is missing. */
    public OptionalLong number(String name) {
        Optional<String> value = text(name);
        if (value.isEmpty()) {
            return OptionalLong.empty();
        }
        if (!value.get().matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException(name + " is not a whole number");
        }
        return OptionalLong.of(Long.parseLong(value.get()));
    }

    public long number(String name, long absent) {
        return number(name).orElse(absent);
    }

    /** Returns a number in a range; a number beyond the range becomes the nearest one in it. */
    int bounded(String name, int absent, int least, int most) {
        return (int) Math.max(least, Math.min(most, number(name, absent)));
    }

    /** Returns a number that must be there. */
    long required(String name) {
        return number(name).orElseThrow(() -> new IllegalArgumentException("expected the parameter " + name));
    }
}

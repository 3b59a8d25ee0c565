package dev.stoker.bench.measure;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One quantity, measured in several rounds. A table shows the median, and the least and the greatest value as the
 * spread.
 *
 * @param values one for each round, in the order of the rounds; at least one
 */
public record Rounds(List<Double> values) {
    public Rounds {
        values = List.copyOf(values);
        if (values.isEmpty()) {
            throw new IllegalArgumentException("a measurement without a round");
        }
    }

    public static Rounds of(double... values) {
        return new Rounds(Arrays.stream(values).boxed().toList());
    }

    /** The middle value; the mean of the two middle ones of an even number. */
    public double median() {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }

    public double min() {
        return values.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    public double max() {
        return values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }

    /**
     * The distance between the least and the greatest value, relative to the median; 0 for a median of 0. One round
     * says nothing about the noise: its spread is unknown, thus {@code NaN}.
     */
    public double spread() {
        if (values.size() == 1) {
            return Double.NaN;
        }
        return median() == 0 ? 0 : (max() - min()) / median();
    }

    public ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("median", median())
                .put("min", min())
                .put("max", max());
        values.forEach(json.putArray("rounds")::add);
        return json;
    }

    /**
     * Reads the output of {@link #json}.
     *
     * @throws IllegalArgumentException if it has no rounds, or one of them is not a number
     */
    public static Rounds of(JsonNode json) {
        List<Double> values = new ArrayList<>();
        for (JsonNode value : json.path("rounds")) {
            if (!value.isNumber()) {
                throw new IllegalArgumentException("the round " + value + " is not a number");
            }
            values.add(value.asDouble());
        }
        return new Rounds(values);
    }
}

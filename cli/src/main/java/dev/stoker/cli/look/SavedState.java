package dev.stoker.cli.look;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.SkipList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of a training, as {@code feed.state_dict()} returns it. See "Position and state" in {@code
 * docs/formats/order.md}.
 *
 * @param epoch the epoch of the position
 * @param batch number of the next batch in this epoch; the steps of the run that loads the state count from it
 * @param dataset id of the dataset
 * @param version version of the dataset
 * @param split the split
 * @param order the order
 * @param skip the batches that were to be skipped
 */
record SavedState(
        long epoch,
        long batch,
        String dataset,
        long version,
        String split,
        OrderSpec order,
        List<SkipList.Range> skip) {
    private static final int FORMAT = 1;

    SavedState {
        skip = List.copyOf(skip);
    }

    /**
     * Reads a state.
     *
     * @throws IllegalArgumentException if the file has no state
     */
    static SavedState read(Path file) throws IOException {
        String what = "option --state: " + file;
        JsonNode state;
        try {
            state = Json.PLAIN.readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(what + " is not JSON: " + e.getOriginalMessage());
        }
        if (!state.path("epoch").isIntegralNumber()
                || !state.path("fingerprint").isTextual()) {
            throw new IllegalArgumentException(what + " is not the state of a feed, which has the keys epoch and"
                    + " fingerprint; write it with json.dump(feed.state_dict(), file)");
        }
        if (state.path("stoker").asInt() != FORMAT) {
            throw new FormatTooNewException(
                    "the state " + file, state.path("stoker").toString(), FORMAT);
        }
        try {
            Requires.check(state, "the state " + file);
            return new SavedState(
                    number(state, "epoch"),
                    number(state, "batch"),
                    text(state, "dataset"),
                    number(state, "version"),
                    text(state, "split"),
                    OrderSpec.fromJson(state.path("order")),
                    ranges(state.path("skip")));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(what + ": " + e.getMessage());
        }
    }

    private static long number(JsonNode state, String key) {
        return natural(state.path(key), key);
    }

    private static long natural(JsonNode number, String key) {
        if (!number.isIntegralNumber() || !number.canConvertToLong() || number.longValue() < 0) {
            throw new IllegalArgumentException(
                    key + ": expected a number from 0 on, found " + (number.isMissingNode() ? "nothing" : number));
        }
        return number.longValue();
    }

    private static String text(JsonNode state, String key) {
        if (!state.path(key).isTextual()) {
            throw new IllegalArgumentException(key + ": expected a text, found "
                    + (state.path(key).isMissingNode() ? "nothing" : state.path(key)));
        }
        return state.path(key).textValue();
    }

    private static List<SkipList.Range> ranges(JsonNode list) {
        List<SkipList.Range> ranges = new ArrayList<>();
        for (JsonNode range : list) {
            if (range.size() != 3) {
                throw new IllegalArgumentException("skip: expected [epoch,first,last], found " + range);
            }
            ranges.add(new SkipList.Range(
                    natural(range.get(0), "skip"), natural(range.get(1), "skip"), natural(range.get(2), "skip")));
        }
        return ranges;
    }
}

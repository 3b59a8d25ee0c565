package dev.stoker.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/** The resume state as text: the same keys as Python's. */
final class FeedState {
    private static final int FORMAT = 1;
    private static final String BATCH_SIZE = "batch_size";
    private static final String FUNCTION = "function";
    private static final String NOT_SET = "not set";
    private static final String SKIP = "skip";
    private static final String SKIPPED = "skipped batches:";

    private FeedState() {}

    /** @param skip the batches that the feed leaves out; the state has those that are not before the position */
    static String of(Position position, Welcome welcome, SkipList skip) {
        ObjectNode state = Json.object();
        state.put("stoker", FORMAT);
        state.put("fingerprint", welcome.pass().fingerprint().text());
        state.put("epoch", position.epoch());
        state.put("batch", position.batch());
        state.put("dataset", welcome.stream().dataset().toString());
        state.put("version", welcome.stream().version());
        state.put("split", welcome.stream().split());
        state.set("order", tree(welcome.pass().order().toJson()));
        List<SkipList.Range> coming = skip.from(position).ranges();
        if (!coming.isEmpty()) {
            ArrayNode list = state.putArray(SKIP);
            coming.forEach(range ->
                    list.addArray().add(range.epoch()).add(range.first()).add(range.last()));
        }
        return state.toString();
    }

    /**
     * The epoch that a state resumes in, and the version from which it has read batches of this epoch; empty if it has
     * read none.
     */
    record Place(long epoch, OptionalLong version) {}

    /**
     * Reads a state's place, and checks no more than the required features.
     *
     * @throws StateMismatchException if the text is not a state
     */
    static Place place(String text) {
        JsonNode state = state(text);
        JsonNode version = state.path("version");
        if (!isNatural(state.path("epoch")) || !isNatural(state.path("batch")) || !isNatural(version)) {
            throw new StateMismatchException("not a state of a feed: " + text);
        }
        boolean hasRead = state.path("batch").longValue() > 0;
        return new Place(
                state.path("epoch").longValue(), hasRead ? OptionalLong.of(version.longValue()) : OptionalLong.empty());
    }

    /**
     * Returns the position in a state, and the number of samples that are repeated because of a permitted difference.
     *
     * @param skip the batches that this feed leaves out
     * @throws StateMismatchException naming all differences from this stream
     */
    static Regrouping parse(String text, Welcome welcome, Set<Difference> permitted, SkipList skip) {
        JsonNode state = state(text);
        if (state.path("stoker").asInt() != FORMAT) {
            throw new StateMismatchException("not a state of a feed, or one of a newer version: " + text);
        }
        JsonNode size = state.path("order").path(BATCH_SIZE);
        boolean isRegrouped = permitted.contains(Difference.BATCH_SIZE)
                && size.canConvertToInt()
                && size.intValue() > 0
                && size.intValue() <= OrderSpec.MAX_BATCH_SIZE
                && size.intValue() != welcome.pass().order().batchSize();
        List<String> differing = differences(state, text, welcome, isRegrouped);
        JsonNode epoch = state.path("epoch");
        JsonNode batch = state.path("batch");
        if (!isNatural(epoch) || !isNatural(batch)) {
            throw new StateMismatchException("impossible position: epoch " + epoch + ", batch " + batch);
        }
        Position position = new Position(epoch.longValue(), batch.longValue());
        if (!permitted.contains(Difference.SKIP)) {
            String delivered = skipped(state).from(position).ranges().stream()
                    .filter(range -> !skip.contains(range, position))
                    .map(range -> "(" + range.epoch() + ", " + range.first() + ", " + range.last() + ")")
                    .collect(Collectors.joining(", "));
            if (!delivered.isEmpty()) {
                differing.add(SKIPPED + " " + delivered + " are skipped in the state, not here");
            }
        }
        if (!differing.isEmpty()) {
            throw new StateMismatchException(
                    "the state belongs to another feed: " + String.join("; ", differing) + hint(differing));
        }
        try {
            Regrouping found = isRegrouped
                    ? Regrouping.of(welcome.pass().order(), welcome.pass().laneRows(), size.intValue(), position)
                    : new Regrouping(position, 0);
            if (found.position().batch() <= welcome.size().batches()) {
                return found;
            }
        } catch (IllegalArgumentException e) {
            throw new StateMismatchException("impossible position: epoch " + epoch + ", " + e.getMessage());
        }
        throw new StateMismatchException("impossible position: epoch " + epoch + ", batch " + batch + " of "
                + welcome.size().batches());
    }

    /**
     * Returns the differences between the stream of a state and this one.
     *
     * @param isRegrouped whether another batch size is permitted
     */
    private static List<String> differences(JsonNode state, String text, Welcome welcome, boolean isRegrouped) {
        List<String> differing = new ArrayList<>();
        compare(
                "dataset",
                state.path("dataset").asText(),
                welcome.stream().dataset().toString(),
                differing);
        // A following feed may have another version if nothing of the epoch was read.
        boolean sameVersion =
                !welcome.session().follows() || place(text).version().isPresent();
        if (sameVersion) {
            compare(
                    "version",
                    state.path("version").asText(),
                    Long.toString(welcome.stream().version()),
                    differing);
        }
        compare("split", state.path("split").asText(), welcome.stream().split(), differing);
        JsonNode there = state.path("order");
        JsonNode here = tree(welcome.pass().order().toJson());
        Set<String> keys = new LinkedHashSet<>();
        here.fieldNames().forEachRemaining(keys::add);
        there.fieldNames().forEachRemaining(keys::add);
        keys.removeIf(key -> isRegrouped && key.equals(BATCH_SIZE));
        if (there.path(FUNCTION).asLong() <= OrderSpec.NEWEST_FUNCTION) {
            keys.remove(FUNCTION); // It follows from the other keys.
        }
        keys.forEach(key ->
                compare(key, there.path(key).asText(NOT_SET), here.path(key).asText(NOT_SET), differing));
        if (differing.isEmpty() && !isRegrouped && sameVersion) {
            compare(
                    "fingerprint",
                    state.path("fingerprint").asText(),
                    welcome.pass().fingerprint().text(),
                    differing);
        }
        return differing;
    }

    private static String hint(List<String> differing) {
        if (differing.size() == 1 && differing.get(0).startsWith(BATCH_SIZE)) {
            return "; to accept this, call load(state, Difference.BATCH_SIZE)";
        }
        return differing.size() == 1 && differing.get(0).startsWith(SKIPPED)
                ? "; to accept this, call load(state, Difference.SKIP)"
                : "";
    }

    private static SkipList skipped(JsonNode state) {
        List<SkipList.Range> ranges = new ArrayList<>();
        try {
            for (JsonNode range : state.path(SKIP)) {
                if (range.size() != 3
                        || !isNatural(range.get(0))
                        || !isNatural(range.get(1))
                        || !isNatural(range.get(2))) {
                    throw new IllegalArgumentException("skip: expected [epoch,first,last], found " + range);
                }
                ranges.add(new SkipList.Range(
                        range.get(0).longValue(),
                        range.get(1).longValue(),
                        range.get(2).longValue()));
            }
            return SkipList.of(ranges);
        } catch (IllegalArgumentException e) {
            throw new StateMismatchException("not a state of a feed: " + e.getMessage());
        }
    }

    private static boolean isNatural(JsonNode number) {
        return number.isIntegralNumber() && number.canConvertToLong() && number.longValue() >= 0;
    }

    private static void compare(String name, String there, String here, List<String> differing) {
        if (!there.equals(here)) {
            differing.add(name + " " + (there.isEmpty() ? "absent" : there) + " in the state, " + here + " here");
        }
    }

    /** Reads a state and checks that this client knows all features that the state requires. */
    private static JsonNode state(String text) {
        JsonNode state = tree(text);
        try {
            Requires.check(state, "the state");
        } catch (FormatTooNewException e) {
            throw new StateMismatchException(ErrorText.of(e));
        } catch (IllegalArgumentException e) {
            throw new StateMismatchException("not a state of a feed: " + e.getMessage());
        }
        return state;
    }

    private static JsonNode tree(String text) {
        try {
            return Json.PLAIN.readTree(text);
        } catch (JsonProcessingException e) {
            throw new StateMismatchException("not a state of a feed: " + e.getOriginalMessage());
        }
    }
}

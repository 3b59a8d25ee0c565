package dev.stoker.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Position;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** The resume state as text: the same keys as Python's. */
final class FeedState {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int FORMAT = 1;
    private static final String BATCH_SIZE = "batch_size";

    private FeedState() {}

    static String of(Position position, Welcome welcome) {
        ObjectNode state = JSON.createObjectNode();
        state.put("stoker", FORMAT);
        state.put("fingerprint", welcome.fingerprint().text());
        state.put("epoch", position.epoch());
        state.put("batch", position.batch());
        state.put("dataset", welcome.stream().dataset().toString());
        state.put("version", welcome.stream().version());
        state.put("split", welcome.stream().split());
        state.set("order", tree(welcome.order().toJson()));
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
     * @throws StateMismatchException naming all differences from this stream
     */
    static Regrouping parse(String text, Welcome welcome, Set<Difference> permitted) {
        JsonNode state = state(text);
        if (state.path("stoker").asInt() != FORMAT) {
            throw new StateMismatchException("not a state of a feed, or one of a newer version: " + text);
        }
        List<String> differing = new ArrayList<>();
        compare(
                "dataset",
                state.path("dataset").asText(),
                welcome.stream().dataset().toString(),
                differing);
        // A following feed may have another version if nothing of the epoch was read.
        boolean sameVersion = !welcome.follows() || place(text).version().isPresent();
        if (sameVersion) {
            compare(
                    "version",
                    state.path("version").asText(),
                    Long.toString(welcome.stream().version()),
                    differing);
        }
        compare("split", state.path("split").asText(), welcome.stream().split(), differing);
        JsonNode size = state.path("order").path(BATCH_SIZE);
        boolean isRegrouped = permitted.contains(Difference.BATCH_SIZE)
                && size.canConvertToInt()
                && size.intValue() > 0
                && size.intValue() <= OrderSpec.MAX_BATCH_SIZE
                && size.intValue() != welcome.order().batchSize();
        for (var here : tree(welcome.order().toJson()).properties()) {
            if (isRegrouped && here.getKey().equals(BATCH_SIZE)) {
                continue;
            }
            compare(
                    here.getKey(),
                    state.path("order").path(here.getKey()).asText(),
                    here.getValue().asText(),
                    differing);
        }
        if (differing.isEmpty() && !isRegrouped && sameVersion) {
            compare(
                    "fingerprint",
                    state.path("fingerprint").asText(),
                    welcome.fingerprint().text(),
                    differing);
        }
        if (!differing.isEmpty()) {
            String hint = differing.size() == 1 && differing.get(0).startsWith(BATCH_SIZE)
                    ? "; to accept this, call load(state, Difference.BATCH_SIZE)"
                    : "";
            throw new StateMismatchException(
                    "the state belongs to another feed: " + String.join("; ", differing) + hint);
        }
        JsonNode epoch = state.path("epoch");
        JsonNode batch = state.path("batch");
        if (!isNatural(epoch) || !isNatural(batch)) {
            throw new StateMismatchException("impossible position: epoch " + epoch + ", batch " + batch);
        }
        Position position = new Position(epoch.longValue(), batch.longValue());
        try {
            Regrouping found = isRegrouped
                    ? Regrouping.of(welcome.order(), welcome.laneRows(), size.intValue(), position)
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

    private static boolean isNatural(JsonNode number) {
        return number.isIntegralNumber() && number.canConvertToLong() && number.longValue() >= 0;
    }

    private static void compare(String name, String there, String here, List<String> differing) {
        if (!there.equals(here)) {
            differing.add(name + " " + (there.isEmpty() ? "absent" : there) + " in the state, " + here + " here");
        }
    }

    /** Reads a state and checks that this client can resume from it: it knows all features, and skips no batches. */
    private static JsonNode state(String text) {
        JsonNode state = tree(text);
        try {
            Requires.check(state, "the state");
        } catch (FormatTooNewException e) {
            throw new StateMismatchException(ErrorText.of(e));
        } catch (IllegalArgumentException e) {
            throw new StateMismatchException("not a state of a feed: " + e.getMessage());
        }
        if (!state.path("skip").isEmpty()) {
            throw new StateMismatchException("the state skips batches " + state.path("skip")
                    + " (epoch, first, last), which this client would deliver; resume from it in Python");
        }
        return state;
    }

    private static JsonNode tree(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new StateMismatchException("not a state of a feed: " + e.getOriginalMessage());
        }
    }
}

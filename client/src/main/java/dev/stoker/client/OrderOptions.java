package dev.stoker.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.ShufflePolicy;
import java.util.List;

/**
 * Collects the settings of the order, see {@link FeedClientBuilder#order}. They override the feed's defaults. The
 * settings of the group's first client apply to the group.
 */
public final class OrderOptions {
    private final ObjectNode order = Json.object();

    OrderOptions() {}

    OrderOptions batchSize(int samples) {
        order.put("batch_size", samples);
        return this;
    }

    /** Sets the seed of the shuffle. */
    public OrderOptions seed(long seed) {
        order.put("seed", seed);
        return this;
    }

    /** Sets the number of lanes. A stream with fewer chunks has fewer. */
    public OrderOptions lanes(int count) {
        order.put("lanes", count);
        return this;
    }

    /** Sets the file bytes that are shuffled together, over all lanes. */
    public OrderOptions shuffleWindow(long bytes) {
        order.put("shuffle_window", bytes);
        return this;
    }

    /** Sets how rows are permuted. {@code NONE} keeps the stored order. */
    public OrderOptions shuffle(ShufflePolicy policy) {
        order.put("shuffle", policy.text());
        return this;
    }

    /** Sets how lanes take turns. */
    public OrderOptions laneOrder(LaneOrder policy) {
        order.put("lane_order", policy.text());
        return this;
    }

    /**
     * Reads only the samples for which a condition is true, as in SQL: {@code label IN ('cat', 'dog') AND width >=
     * 256}. See docs/filter.md.
     */
    public OrderOptions where(String condition) {
        order.put("where", condition);
        return this;
    }

    /** Sets keys of an order spec as JSON, in addition to the settings made before. */
    public OrderOptions json(String json) {
        try {
            JsonNode keys = Json.PLAIN.readTree(json);
            if (!keys.isObject()) {
                throw new IllegalArgumentException("order spec: expected a JSON object");
            }
            keys.properties().forEach(key -> order.set(key.getKey(), key.getValue()));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("order spec is not JSON: " + e.getOriginalMessage(), e);
        }
        return this;
    }

    /** Returns the settings, or no setting and a problem more. */
    OrderOverlay overlay(List<String> problems) {
        try {
            return OrderOverlay.fromJson(order);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return OrderOverlay.NONE;
        }
    }
}

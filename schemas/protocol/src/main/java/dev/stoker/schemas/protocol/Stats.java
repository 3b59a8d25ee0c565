package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reports the waits of the trainer since its client was opened, over all feeders (client to server, at most about once
 * a second). All values are totals; a later frame replaces an earlier one.
 *
 * @param timeUs microseconds since the trainer first requested a batch
 * @param waitedUs microseconds of these in which it waited for a batch
 * @param batches number of batches that the trainer received
 * @param samples number of samples in them
 * @param bytes number of bytes received
 * @param causes microseconds waited, by cause; at most {@value #MAX_CAUSES}
 * @param waits the longest waits, longest first; at most {@value #MAX_WAITS}
 */
public record Stats(
        long timeUs, long waitedUs, long batches, long samples, long bytes, Map<String, Long> causes, List<Wait> waits)
        implements Frame {
    public static final int MAX_CAUSES = 32;
    public static final int MAX_WAITS = 64;

    private static final int MAX_NAME = 255;

    /**
     * Counts the waits for one lane of one feeder.
     *
     * @param feeder the feeder's address
     * @param lane the lane
     * @param cause {@code start}, {@code origin}, {@code disk}, {@code network}, {@code feeder}, {@code corrupt},
     *     {@code connect}, or a cause of a newer client
     * @param us total time in microseconds
     * @param times number of waits
     */
    public record Wait(String feeder, int lane, String cause, long us, long times) {
        public Wait {
            requireName("feeder", feeder);
            requireName("cause", cause);
            Fields.u16("lane", lane);
            Fields.natural("us", us);
            Fields.natural("times", times);
        }
    }

    public Stats {
        Fields.natural("time_us", timeUs);
        Fields.natural("waited_us", waitedUs);
        Fields.natural("batches", batches);
        Fields.natural("samples", samples);
        Fields.natural("bytes", bytes);
        Map<String, Long> copy = new LinkedHashMap<>();
        causes.forEach((cause, us) -> {
            requireName("causes", cause);
            Fields.natural(cause, us);
            copy.put(cause, us);
        });
        causes = Collections.unmodifiableMap(copy);
        waits = List.copyOf(waits);
        if (causes.size() > MAX_CAUSES || waits.size() > MAX_WAITS) {
            throw new IllegalArgumentException(causes.size() + " causes and " + waits.size()
                    + " waits: expected at most " + MAX_CAUSES + " and " + MAX_WAITS);
        }
    }

    private static void requireName(String what, String name) {
        if (name.isEmpty() || name.length() > MAX_NAME || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    what + ": expected 1 to " + MAX_NAME + " characters without control characters");
        }
    }

    public ByteBuffer body() {
        ObjectNode json = JsonObject.create();
        json.put("time_us", timeUs);
        json.put("waited_us", waitedUs);
        json.put("batches", batches);
        json.put("samples", samples);
        json.put("bytes", bytes);
        ObjectNode byCause = json.putObject("causes");
        causes.forEach((cause, us) -> byCause.put(cause, us));
        ArrayNode list = json.putArray("waits");
        for (Wait wait : waits) {
            list.addObject()
                    .put("feeder", wait.feeder())
                    .put("lane", wait.lane())
                    .put("cause", wait.cause())
                    .put("us", wait.us())
                    .put("times", wait.times());
        }
        return JsonObject.bytes(json);
    }

    public static Stats read(ByteBuffer body) throws ProtocolException {
        JsonObject json = JsonObject.read(FrameType.STATS, body);
        JsonObject causes = json.object("causes");
        Map<String, Long> byCause = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : causes.node().properties()) {
            byCause.put(entry.getKey(), causes.number(entry.getKey(), entry.getValue(), Long.MAX_VALUE));
        }
        List<Wait> waits = new ArrayList<>();
        for (JsonNode element : json.array("waits")) {
            JsonObject wait = json.element("waits", element);
            waits.add(new Wait(
                    wait.text("feeder"),
                    (int) wait.number("lane", 0xFFFF),
                    wait.text("cause"),
                    wait.number("us", Long.MAX_VALUE),
                    wait.number("times", Long.MAX_VALUE)));
        }
        return new Stats(
                json.number("time_us", Long.MAX_VALUE),
                json.number("waited_us", Long.MAX_VALUE),
                json.number("batches", Long.MAX_VALUE),
                json.number("samples", Long.MAX_VALUE),
                json.number("bytes", Long.MAX_VALUE),
                byCause,
                waits);
    }

    @Override
    public FrameType type() {
        return FrameType.STATS;
    }
}

package dev.stoker.schemas.protocol.codec;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Stats;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes the JSON of STATS, with the keys in the order of the format page. */
final class StatsJson {
    private StatsJson() {}

    static byte[] of(Stats stats) {
        ObjectNode json = JsonObject.nodes().objectNode();
        json.put("time_us", stats.timeUs());
        json.put("waited_us", stats.waitedUs());
        json.put("batches", stats.batches());
        json.put("samples", stats.samples());
        json.put("bytes", stats.bytes());
        ObjectNode causes = json.putObject("causes");
        stats.causes().forEach((cause, us) -> causes.put(cause, us));
        ArrayNode waits = json.putArray("waits");
        for (Stats.Wait wait : stats.waits()) {
            waits.addObject()
                    .put("feeder", wait.feeder())
                    .put("lane", wait.lane())
                    .put("cause", wait.cause())
                    .put("us", wait.us())
                    .put("times", wait.times());
        }
        return JsonObject.bytes(json);
    }

    static Stats stats(JsonObject json) throws ProtocolException {
        JsonObject causes = json.object("causes");
        Map<String, Long> byCause = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : causes.node().properties()) {
            byCause.put(entry.getKey(), causes.number(entry.getKey(), entry.getValue(), Long.MAX_VALUE));
        }
        List<Stats.Wait> waits = new ArrayList<>();
        for (JsonNode element : json.array("waits")) {
            JsonObject wait = json.element("waits", element);
            waits.add(new Stats.Wait(
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
}

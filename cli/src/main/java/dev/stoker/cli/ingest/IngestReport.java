package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.ingest.ExcludedKeys;
import dev.stoker.ingest.IngestPlan;
import dev.stoker.ingest.IngestResult;
import dev.stoker.ingest.topic.TopicIngestResult;
import dev.stoker.schemas.json.Json;
import java.util.Locale;
import java.util.Map;

/** The result of an ingest as JSON. */
public final class IngestReport {

    private IngestReport() {}

    public static ObjectNode json(IngestResult result) {
        ObjectNode json = Json.object();
        json.put("version", result.version());
        json.put("ingest_id", result.ingestId());
        json.put("outcome", result.outcome().name().toLowerCase(Locale.ROOT));
        json.put("samples", result.samples());
        json.put("replaced", result.replaced());
        json.put("chunks", result.chunks());
        json.put("bytes", result.bytes());
        json.put("seconds", result.duration().toNanos() / 1e9);
        json.put("start_up_seconds", result.startUp().toNanos() / 1e9);
        ArrayNode skipped = json.putArray("skipped");
        result.skipped().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry -> skipped.addObject()
                        .put("reason", entry.getKey().name().toLowerCase(Locale.ROOT))
                        .put("count", entry.getValue())
                        .put("example", result.examples().get(entry.getKey())));
        ArrayNode missing = json.putArray("missing_classes");
        result.missing()
                .forEach((field, count) ->
                        missing.addObject().put("field", field).put("count", count));
        addTo(json, result.excludedKeys());
        result.items().ifPresent(items -> json.put("skip_list", items.location()));
        return json;
    }

    /** Returns the plan of {@code --dry-run}. */
    static ObjectNode json(IngestPlan plan) {
        ObjectNode json = PlanReport.json(plan.lines());
        addTo(json, plan.excludedKeys());
        return json;
    }

    private static void addTo(ObjectNode json, ExcludedKeys excluded) {
        if (excluded.given() > 0) {
            ObjectNode keys = json.putObject("excluded_keys");
            keys.put("given", excluded.given()).put("unmatched", excluded.unmatched());
            excluded.first().forEach(keys.putArray("first_unmatched")::add);
        }
    }

    public static ObjectNode json(TopicIngestResult result) {
        ObjectNode json = Json.object();
        json.put("version", result.newestVersion());
        json.put("versions", result.versions());
        json.put("samples", result.samples());
        json.put("bytes", result.bytes());
        json.put("seconds", result.duration().toNanos() / 1e9);
        json.putObject("dead_letters")
                .put("count", result.deadLetters().count())
                .put("location", result.deadLetters().location());
        ObjectNode leftOut = json.putObject("left_out");
        result.leftOut().forEach((kind, count) -> leftOut.put(kind.name().toLowerCase(Locale.ROOT), count));
        result.position()
                .ifPresent(position -> json.putObject("position")
                        .put("topic", position.topic())
                        .put("next", TopicPosition.text(position.next())));
        result.hidden().ifPresent(hidden -> json.put("hidden", hidden));
        return json;
    }
}

package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Json;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.ingest.IngestResult;
import dev.stoker.ingest.topic.TopicIngestResult;
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
        if (result.excludedKeys().given() > 0) {
            ObjectNode keys = json.putObject("excluded_keys");
            keys.put("given", result.excludedKeys().given());
            keys.put("unmatched", result.excludedKeys().unmatched());
            result.excludedKeys().first().forEach(keys.putArray("first_unmatched")::add);
        }
        result.items().ifPresent(items -> json.put("skip_list", items.location()));
        return json;
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

package dev.stoker.schemas.protocol.codec;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/** Reads and writes the JSON of WELCOME, LANE_MAP and ERROR, with the keys in the order of the format page. */
final class FrameJson {
    private static final Pattern UUID_TEXT =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private FrameJson() {}

    static byte[] of(Welcome welcome) {
        ObjectNode json = JsonObject.nodes().objectNode();
        json.put("protocol", Protocol.VERSION);
        json.putObject("feed")
                .put("id", welcome.feed().id().toString())
                .put("name", welcome.feed().name());
        Welcome.StreamName stream = welcome.stream();
        json.putObject("stream")
                .put("name", stream.name())
                .put("dataset", stream.dataset().toString())
                .put("dataset_name", stream.datasetName())
                .put("version", stream.version())
                .put("split", stream.split());
        json.put("fingerprint", welcome.pass().fingerprint().text());
        json.set("order", JsonObject.parse(welcome.pass().order().toJson()));
        ArrayNode fields = json.putArray("fields");
        for (FieldInfo field : welcome.columns().fields()) {
            fields.addObject()
                    .put("name", field.name())
                    .put("type", field.type())
                    .put("nullable", field.nullable())
                    .put("payload", field.payload());
        }
        ObjectNode classes = json.putObject("classes");
        welcome.columns().classes().forEach((field, names) -> names.forEach(classes.putArray(field)::add));
        welcome.pass().laneRows().forEach(json.putArray("lane_rows")::add);
        json.put("samples", welcome.pass().samples());
        json.put("batches", welcome.size().batches());
        json.put("largest_batch", welcome.pass().largestBatchBytes());
        if (welcome.pass().epochs().isPresent()) {
            json.put("epochs", welcome.pass().epochs().getAsLong());
        } else {
            json.putNull("epochs");
        }
        json.put("run", welcome.session().run());
        json.put(
                "session",
                new BigInteger(Long.toUnsignedString(welcome.session().number())));
        json.set("lane_map", node(welcome.laneMap()));
        json.put("stats", welcome.session().takesStats());
        if (welcome.session().localFiles() > 0) {
            json.put("local_files", welcome.session().localFiles());
        }
        if (welcome.session().follows()) {
            json.put("follows", true);
        }
        welcome.session().epoch().ifPresent(epoch -> json.put("epoch", epoch));
        if (welcome.session().readOnly()) {
            json.put("read_only", true);
        }
        return JsonObject.bytes(json);
    }

    static Welcome welcome(JsonObject json) throws ProtocolException {
        long protocol = json.number("protocol", Long.MAX_VALUE);
        if (protocol != Protocol.VERSION) {
            throw new ProtocolException(
                    ErrorCode.UNSUPPORTED_PROTOCOL,
                    "the server answers in protocol " + protocol + ", this client speaks " + Protocol.VERSION);
        }
        try {
            Requires.check(json.node(), "WELCOME");
        } catch (FormatTooNewException e) {
            throw new ProtocolException(ErrorCode.UNSUPPORTED_PROTOCOL, ErrorText.of(e), e);
        }
        JsonObject feed = json.object("feed");
        JsonObject stream = json.object("stream");
        Welcome welcome = new Welcome(
                new Welcome.FeedName(uuid(feed, "id"), feed.text("name")),
                new Welcome.StreamName(
                        stream.text("name"),
                        uuid(stream, "dataset"),
                        stream.text("dataset_name"),
                        stream.number("version", Long.MAX_VALUE),
                        stream.text("split")),
                new Welcome.StreamColumns(fields(json), classes(json.object("classes"))),
                new Welcome.PassInfo(
                        new Fingerprint(json.text("fingerprint")),
                        OrderSpec.fromJson(json.require("order")),
                        laneRows(json),
                        json.number("samples", Long.MAX_VALUE),
                        json.number("largest_batch", Long.MAX_VALUE),
                        json.optionalNumber("epochs")),
                laneMap(json.object("lane_map")),
                new Welcome.SessionInfo(
                        json.number("run", Long.MAX_VALUE),
                        unsigned(json, "session"),
                        json.optionalInt("local_files", 0),
                        json.optionalFlag("stats"),
                        json.optionalFlag("follows"),
                        json.optionalNumber("epoch"),
                        json.optionalFlag("read_only")));
        long batches = json.number("batches", Long.MAX_VALUE);
        if (batches != welcome.size().batches()) {
            throw ProtocolException.badFrame(
                    "WELCOME: batches is " + batches + ": " + welcome.pass().samples()
                            + " samples at batch size " + welcome.pass().order().batchSize() + " make "
                            + welcome.size().batches());
        }
        return welcome;
    }

    private static List<FieldInfo> fields(JsonObject json) throws ProtocolException {
        List<FieldInfo> fields = new ArrayList<>();
        for (JsonNode element : json.array("fields")) {
            JsonObject field = json.element("fields", element);
            fields.add(new FieldInfo(
                    field.text("name"), field.text("type"), field.flag("nullable"), field.flag("payload")));
        }
        return fields;
    }

    private static Map<String, List<String>> classes(JsonObject json) throws ProtocolException {
        Map<String, List<String>> classes = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : json.node().properties()) {
            List<String> names = new ArrayList<>();
            for (JsonNode name : json.array(entry.getKey(), entry.getValue())) {
                names.add(json.text(entry.getKey(), name));
            }
            classes.put(entry.getKey(), names);
        }
        return classes;
    }

    private static List<Long> laneRows(JsonObject json) throws ProtocolException {
        List<Long> rows = new ArrayList<>();
        for (JsonNode element : json.array("lane_rows")) {
            rows.add(json.number("lane_rows", element, Long.MAX_VALUE));
        }
        return rows;
    }

    static byte[] of(LaneMap map) {
        return JsonObject.bytes(node(map));
    }

    private static ObjectNode node(LaneMap map) {
        ObjectNode json = JsonObject.nodes().objectNode();
        json.putArray("generation").add(map.startMs()).add(map.counter());
        map.addresses().forEach(json.putArray("addresses")::add);
        ArrayNode lanes = json.putArray("lanes");
        map.lanes().forEach(lane -> lane.forEach(lanes.addArray()::add));
        if (!map.unix().isEmpty()) {
            ObjectNode unix = json.putObject("unix");
            map.unix()
                    .forEach((address, place) ->
                            unix.putObject(address).put("host", place.host()).put("path", place.path()));
        }
        return json;
    }

    static LaneMap laneMap(JsonObject json) throws ProtocolException {
        JsonNode generation = json.array("generation");
        if (generation.size() != 2) {
            throw json.wrong("generation", generation, "a start time and a counter");
        }
        List<String> addresses = new ArrayList<>();
        for (JsonNode address : json.array("addresses")) {
            addresses.add(json.text("addresses", address));
        }
        List<List<Integer>> lanes = new ArrayList<>();
        for (JsonNode lane : json.array("lanes")) {
            List<Integer> indexes = new ArrayList<>();
            for (JsonNode index : json.array("lanes", lane)) {
                indexes.add((int) json.number("lanes", index, Integer.MAX_VALUE));
            }
            lanes.add(indexes);
        }
        return new LaneMap(
                json.number("generation", generation.get(0), Long.MAX_VALUE),
                json.number("generation", generation.get(1), Long.MAX_VALUE),
                addresses,
                lanes,
                unix(json));
    }

    private static Map<String, UnixAddress> unix(JsonObject json) throws ProtocolException {
        Map<String, UnixAddress> unix = new LinkedHashMap<>();
        if (json.get("unix") != null) {
            JsonObject places = json.object("unix");
            for (Map.Entry<String, JsonNode> entry : places.node().properties()) {
                JsonObject place = places.object(entry.getKey());
                unix.put(entry.getKey(), new UnixAddress(place.text("host"), place.text("path")));
            }
        }
        return unix;
    }

    static byte[] of(ErrorMessage error) {
        ObjectNode json = JsonObject.nodes().objectNode();
        json.put("code", error.code()).put("message", error.message());
        return JsonObject.bytes(json);
    }

    static ErrorMessage error(JsonObject json) throws ProtocolException {
        return new ErrorMessage(json.text("code"), json.text("message"));
    }

    private static UUID uuid(JsonObject json, String key) throws ProtocolException {
        String text = json.text(key);
        if (!UUID_TEXT.matcher(text).matches()) {
            throw json.wrong(key, json.require(key), "a UUID in lower case");
        }
        return UUID.fromString(text);
    }

    private static long unsigned(JsonObject json, String key) throws ProtocolException {
        JsonNode value = json.require(key);
        if (!value.isIntegralNumber()
                || value.bigIntegerValue().signum() < 0
                || value.bigIntegerValue().bitLength() > Long.SIZE) {
            throw json.wrong(key, value, "a whole number below 2^64");
        }
        return value.bigIntegerValue().longValue();
    }
}

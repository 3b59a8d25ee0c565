package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.features.Requires;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.schemas.protocol.parts.Fields;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Admits the client and describes the stream (server to client).
 *
 * @param feed the feed
 * @param stream the stream
 * @param columns the columns of the stream
 * @param pass the pass that the group shares
 * @param laneMap the feeders of each lane
 * @param session the session of the client
 */
public record Welcome(
        FeedName feed, StreamName stream, StreamColumns columns, PassInfo pass, LaneMap laneMap, SessionInfo session)
        implements Frame {
    private static final Pattern UUID_TEXT =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** Contains a feed's id and name. */
    public record FeedName(UUID id, String name) {}

    /**
     * Describes a stream for the client.
     *
     * @param name its name in the feed
     * @param dataset the dataset's id
     * @param datasetName the dataset's name
     * @param version the version served
     * @param split the split served
     */
    public record StreamName(String name, UUID dataset, String datasetName, long version, String split) {}

    /**
     * Describes the columns of a stream.
     *
     * @param fields the dataset's fields
     * @param classes for each categorical field, the version's class names by id
     */
    public record StreamColumns(List<FieldInfo> fields, Map<String, List<String>> classes) {
        public StreamColumns {
            fields = List.copyOf(fields);
            Map<String, List<String>> copy = new LinkedHashMap<>();
            classes.forEach((field, names) -> copy.put(field, List.copyOf(names)));
            classes = Collections.unmodifiableMap(copy);
        }
    }

    /**
     * Describes a pass over a stream in the order of a group.
     *
     * @param fingerprint fingerprint of the stream under the group's order spec
     * @param order the group's order spec
     * @param laneRows live rows of each lane; with the order spec they determine every batch's pieces
     * @param samples live rows of the stream
     * @param largestBatchBytes upper bound of the message bytes of a delivered batch
     * @param epochs number of epochs after which the group is done; empty for no end
     */
    public record PassInfo(
            Fingerprint fingerprint,
            OrderSpec order,
            List<Long> laneRows,
            long samples,
            long largestBatchBytes,
            OptionalLong epochs) {
        public PassInfo {
            laneRows = List.copyOf(laneRows);
            Fields.natural("samples", samples);
            Fields.natural("largest_batch", largestBatchBytes);
            epochs.ifPresent(n -> Fields.natural("epochs", n));
            long sum = 0;
            for (long rows : laneRows) {
                Fields.natural("lane_rows", rows);
                sum = Math.addExact(sum, rows);
            }
            if (sum != samples) {
                throw new IllegalArgumentException("lane_rows sum to " + sum + ", samples is " + samples);
            }
        }

        /** Returns the lengths of every epoch. */
        public EpochSize size() {
            return new EpochSize(samples, order.batchSize());
        }
    }

    /**
     * Describes what a session may do.
     *
     * @param run the run of the session
     * @param number the session's number, for logs
     * @param localFiles number of files that the server may announce at a time for local reads, at most the number in
     *     HELLO; 0 for no local reads
     * @param takesStats whether the client may send {@link Stats}; every server of this version sets it
     * @param follows whether each epoch of the stream has its own version
     * @param epoch if the stream follows its dataset: the only epoch of this session; empty if the client named none
     *     and may only look
     * @param readOnly whether the client must not send {@link Ack}, because its token permits only reading
     */
    public record SessionInfo(
            long run,
            long number,
            int localFiles,
            boolean takesStats,
            boolean follows,
            OptionalLong epoch,
            boolean readOnly) {
        public SessionInfo {
            Fields.natural("run", run);
            epoch.ifPresent(n -> Fields.u32("epoch", n));
        }

        /** Creates a session of a stream that does not follow its dataset, without local reads. */
        public SessionInfo(long run, long number) {
            this(run, number, 0, true, false, OptionalLong.empty(), false);
        }
    }

    /** Returns the same WELCOME with local reads of at most {@code files} files at a time. */
    public Welcome withLocalReads(int files) {
        return with(files, session.follows, session.epoch, session.readOnly);
    }

    /** Returns the same WELCOME for a stream that follows its dataset, for one epoch only, or for none. */
    public Welcome following(OptionalLong only) {
        return with(session.localFiles, true, only, session.readOnly);
    }

    /** Returns the same WELCOME for a client that must not acknowledge. */
    public Welcome forReadingOnly() {
        return with(session.localFiles, session.follows, session.epoch, true);
    }

    private Welcome with(int files, boolean follows, OptionalLong only, boolean readOnly) {
        SessionInfo changed =
                new SessionInfo(session.run, session.number, files, session.takesStats, follows, only, readOnly);
        return new Welcome(feed, stream, columns, pass, laneMap, changed);
    }

    /** Returns the lengths of every epoch. */
    public EpochSize size() {
        return pass.size();
    }

    public ByteBuffer body() {
        ObjectNode json = JsonObject.create();
        json.put("protocol", Protocol.VERSION);
        json.putObject("feed").put("id", feed.id().toString()).put("name", feed.name());
        json.putObject("stream")
                .put("name", stream.name())
                .put("dataset", stream.dataset().toString())
                .put("dataset_name", stream.datasetName())
                .put("version", stream.version())
                .put("split", stream.split());
        json.put("fingerprint", pass.fingerprint.text());
        json.set("order", JsonObject.parse(pass.order.toJson()));
        ArrayNode fields = json.putArray("fields");
        for (FieldInfo field : columns.fields) {
            fields.addObject()
                    .put("name", field.name())
                    .put("type", field.type())
                    .put("nullable", field.nullable())
                    .put("payload", field.payload());
        }
        ObjectNode classes = json.putObject("classes");
        columns.classes.forEach((field, names) -> names.forEach(classes.putArray(field)::add));
        pass.laneRows.forEach(json.putArray("lane_rows")::add);
        json.put("samples", pass.samples);
        json.put("batches", pass.size().batches());
        json.put("largest_batch", pass.largestBatchBytes);
        if (pass.epochs.isPresent()) {
            json.put("epochs", pass.epochs.getAsLong());
        } else {
            json.putNull("epochs");
        }
        json.put("run", session.run);
        json.put("session", new BigInteger(Long.toUnsignedString(session.number)));
        json.set("lane_map", laneMap.json());
        json.put("stats", session.takesStats);
        if (session.localFiles > 0) {
            json.put("local_files", session.localFiles);
        }
        if (session.follows) {
            json.put("follows", true);
        }
        session.epoch.ifPresent(epoch -> json.put("epoch", epoch));
        if (session.readOnly) {
            json.put("read_only", true);
        }
        return JsonObject.bytes(json);
    }

    public static Welcome read(ByteBuffer body) throws ProtocolException {
        JsonObject json = JsonObject.read(FrameType.WELCOME, body);
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
                new FeedName(uuid(feed, "id"), feed.text("name")),
                new StreamName(
                        stream.text("name"),
                        uuid(stream, "dataset"),
                        stream.text("dataset_name"),
                        stream.number("version", Long.MAX_VALUE),
                        stream.text("split")),
                new StreamColumns(fields(json), classes(json.object("classes"))),
                new PassInfo(
                        new Fingerprint(json.text("fingerprint")),
                        OrderSpec.fromJson(json.require("order")),
                        laneRows(json),
                        json.number("samples", Long.MAX_VALUE),
                        json.number("largest_batch", Long.MAX_VALUE),
                        json.optionalNumber("epochs")),
                LaneMap.of(json.object("lane_map")),
                new SessionInfo(
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

    @Override
    public FrameType type() {
        return FrameType.WELCOME;
    }
}

package dev.stoker.schemas.protocol.codec;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads and writes the body of HELLO, with the keys in the order of the format page.
 *
 * <pre>
 *  8 u32 magic    12 u16 version    14 u16 0    16 JSON
 * </pre>
 */
final class HelloFrame {
    private static final int FIXED = 8;
    private static final int RANGE_NUMBERS = 3;

    private HelloFrame() {}

    static ByteBuffer body(Hello hello) {
        byte[] json = json(hello);
        ByteBuffer out = ByteBuffer.allocate(FIXED + json.length).order(ByteOrder.LITTLE_ENDIAN);
        return out.putInt(Protocol.MAGIC)
                .putShort((short) Protocol.VERSION)
                .putShort((short) 0)
                .put(json)
                .flip();
    }

    /**
     * Checks magic and version of a HELLO, which stay in their places in every version. A HELLO of another version may
     * end with something else than a checksum.
     */
    static void checkVersion(ByteBuffer body) throws ProtocolException {
        body.order(ByteOrder.LITTLE_ENDIAN);
        int magic = body.getInt(body.position());
        if (magic != Protocol.MAGIC) {
            throw ProtocolException.badFrame("HELLO: expected the letters STKR, found " + String.format("%08x", magic)
                    + ": the peer is no Stoker client");
        }
        int version = Short.toUnsignedInt(body.getShort(body.position() + Integer.BYTES));
        if (version != Protocol.VERSION) {
            throw new ProtocolException(
                    ErrorCode.UNSUPPORTED_PROTOCOL,
                    "the client speaks protocol " + version + ", this server " + Protocol.VERSION + ": update the "
                            + (version > Protocol.VERSION ? "server" : "client"));
        }
    }

    /** Reads a body whose magic and version were {@linkplain #checkVersion checked}. */
    static Hello read(ByteBuffer body) throws ProtocolException {
        body.position(body.position() + Integer.BYTES + Short.BYTES);
        if (body.getShort() != 0) {
            throw ProtocolException.badFrame(FrameType.HELLO + ": reserved bytes are not 0");
        }
        return hello(JsonObject.read(FrameType.HELLO, body));
    }

    private static byte[] json(Hello hello) {
        ObjectNode json = JsonObject.nodes().objectNode();
        json.put("token", hello.token().orElse(null));
        json.put("feed", hello.pass().feed().orElse(null));
        json.put("stream", hello.pass().stream().orElse(null));
        json.put("group", hello.pass().group());
        json.set(
                "order",
                hello.pass().order().isEmpty()
                        ? null
                        : JsonObject.parse(hello.pass().order().toJson()));
        json.put("rank", hello.participant().rank());
        json.put("world_size", hello.participant().worldSize());
        json.put("worker", hello.participant().worker());
        json.put("workers", hello.participant().workers());
        json.put("replica", hello.replica());
        json.put("run", hello.run());
        json.put("client", hello.client());
        if (hello.reading().localFiles() > 0) {
            json.put("local_files", hello.reading().localFiles());
            if (hello.reading().localReadsFrom() > 0) {
                json.put("local_reads_from", hello.reading().localReadsFrom());
            }
        }
        hello.reading().epoch().ifPresent(epoch -> json.put("epoch", epoch));
        hello.reading().version().ifPresent(version -> json.put("version", version));
        write(hello.caller(), json);
        if (!hello.reading().skip().ranges().isEmpty()) {
            ArrayNode skip = json.putArray("skip");
            for (SkipList.Range range : hello.reading().skip().ranges()) {
                skip.addArray().add(range.epoch()).add(range.first()).add(range.last());
            }
        }
        return JsonObject.bytes(json);
    }

    private static void write(Caller caller, ObjectNode json) {
        if (caller.joined() > 0) {
            json.put("joined", caller.joined());
        }
        if (caller.sentNanos() > 0) {
            json.put("sent", caller.sentNanos());
        }
        if (caller.look()) {
            json.put("look", true);
        }
        caller.instance()
                .ifPresent(instance -> json.putObject("instance")
                        .put("boot", instance.boot())
                        .put("pid", instance.pid())
                        .put("start", instance.start())
                        .put("host", instance.host()));
        caller.launch()
                .ifPresent(launch -> json.putObject("launch")
                        .put("launcher", launch.launcher())
                        .put("id", launch.id())
                        .put("restarts", launch.restarts()));
    }

    private static Caller caller(JsonObject json) throws ProtocolException {
        Optional<Instance> instance = Optional.empty();
        Optional<Launch> launch = Optional.empty();
        if (json.get("instance") != null) {
            JsonObject process = json.object("instance");
            instance = Optional.of(new Instance(
                    process.text("boot"),
                    process.number("pid", Long.MAX_VALUE),
                    process.number("start", Long.MAX_VALUE),
                    process.text("host")));
        }
        if (json.get("launch") != null) {
            JsonObject job = json.object("launch");
            launch = Optional.of(
                    new Launch(job.text("launcher"), job.text("id"), (int) job.number("restarts", Integer.MAX_VALUE)));
        }
        return new Caller(
                json.get("joined") == null ? 0 : json.number("joined", Long.MAX_VALUE),
                json.get("sent") == null ? 0 : json.number("sent", Long.MAX_VALUE),
                json.optionalFlag("look"),
                instance,
                launch);
    }

    private static Hello hello(JsonObject json) throws ProtocolException {
        JsonNode order = json.get("order");
        return new Hello(
                json.optionalText("token"),
                json.optionalText("client").orElse(""),
                new Hello.PassRequest(
                        json.optionalText("feed"),
                        json.optionalText("stream"),
                        json.optionalText("group").orElse(Hello.DEFAULT_GROUP),
                        order == null ? OrderOverlay.NONE : OrderOverlay.fromJson(order)),
                new Participant(
                        json.optionalInt("rank", 0),
                        json.optionalInt("world_size", 1),
                        json.optionalInt("worker", 0),
                        json.optionalInt("workers", 1)),
                json.optionalInt("replica", 0),
                json.get("run") == null ? 0 : json.number("run", Hello.MAX_RUN),
                caller(json),
                new Hello.ReadRequest(
                        json.optionalNumber("epoch"),
                        json.optionalNumber("version"),
                        skip(json),
                        json.optionalInt("local_files", 0),
                        json.optionalInt("local_reads_from", 0)));
    }

    private static SkipList skip(JsonObject json) throws ProtocolException {
        JsonNode list = json.get("skip");
        if (list == null) {
            return SkipList.NONE;
        }
        if (!list.isArray() || list.isEmpty() || list.size() > SkipList.MAX_RANGES) {
            throw ProtocolException.badFrame("HELLO: skip: expected 1 to " + SkipList.MAX_RANGES + " ranges");
        }
        List<SkipList.Range> ranges = new ArrayList<>();
        for (JsonNode range : list) {
            if (!range.isArray() || range.size() != RANGE_NUMBERS) {
                throw ProtocolException.badFrame("HELLO: skip: expected [epoch,first,last], found " + range);
            }
            ranges.add(new SkipList.Range(
                    json.number("skip", range.get(0), Long.MAX_VALUE),
                    json.number("skip", range.get(1), SkipList.MAX_NUMBER),
                    json.number("skip", range.get(2), SkipList.MAX_NUMBER)));
        }
        return new SkipList(ranges);
    }
}

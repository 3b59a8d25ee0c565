package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.Fields;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Identifies the client and its request; the first frame of a session (client to server).
 *
 * <pre>
 *  8 u32 magic    12 u16 version    14 u16 0    16 JSON
 * </pre>
 *
 * @param token the secret, if the server requires one
 * @param client name and version of the client, for logs
 * @param pass the pass that the client joins
 * @param participant its rank and worker
 * @param replica number of the copy, if several copies of one rank receive the same batches
 * @param run the run that the user named; 0 if the server chooses it
 * @param caller the process of the client, and whether it requests a place
 * @param reading how it reads
 */
public record Hello(
        Optional<String> token,
        String client,
        PassRequest pass,
        Participant participant,
        int replica,
        long run,
        Caller caller,
        ReadRequest reading)
        implements Frame {
    public static final String DEFAULT_GROUP = "default";

    /** The greatest run that a user may name. Greater numbers are left for the runs that servers choose. */
    public static final long MAX_RUN = 1L << 62;

    private static final int MAX_NAME = 255;
    private static final int FIXED = 8;
    private static final int RANGE_NUMBERS = 3;

    /**
     * Names a pass over a stream, and the order in which its group reads.
     *
     * @param feed id or name of the expected feed; empty for any feed
     * @param stream name of the stream; empty for the feed's first stream
     * @param group name of the group that shares the pass
     * @param order the requested keys of the order; the feed's default applies to the others
     */
    public record PassRequest(Optional<String> feed, Optional<String> stream, String group, OrderOverlay order) {
        public PassRequest {
            feed.ifPresent(name -> Fields.name("feed", name, MAX_NAME));
            stream.ifPresent(name -> Fields.name("stream", name, MAX_NAME));
            Fields.name("group", group, MAX_NAME);
        }
    }

    /**
     * Describes what a client reads of its pass, and how.
     *
     * @param epoch the epoch that the client begins or resumes, which determines the version if the stream follows its
     *     dataset; empty for a client that does not support this
     * @param version the version of that epoch in the client's state; empty if it has read nothing of the epoch
     * @param skip the batches that the client leaves out
     * @param localFiles number of files that the client can keep open for local reads; 0 for none
     * @param localReadsFrom average payload bytes of a row from which local reads pay off for the client
     */
    public record ReadRequest(
            OptionalLong epoch, OptionalLong version, SkipList skip, int localFiles, int localReadsFrom) {
        /** Reads any epoch, skips no batch, and takes all bytes from the server. */
        public static final ReadRequest PLAIN =
                new ReadRequest(OptionalLong.empty(), OptionalLong.empty(), SkipList.NONE, 0, 0);

        public ReadRequest {
            requireNatural("local_files", localFiles);
            requireNatural("local_reads_from", localReadsFrom);
            if (epoch.isPresent()) {
                Fields.u32("epoch", epoch.getAsLong());
            }
            if (version.isPresent()) {
                Fields.natural("version", version.getAsLong());
            }
        }
    }

    public Hello {
        if (client.length() > MAX_NAME) {
            throw new IllegalArgumentException("client is longer than " + MAX_NAME + " characters");
        }
        requireNatural("replica", replica);
        if (run < 0 || run > MAX_RUN) {
            throw new IllegalArgumentException("run is " + run + ": expected 0 … 2^62");
        }
    }

    /** Creates a HELLO of an unknown process that requests a place, without local reads. */
    public Hello(
            Optional<String> token, String client, PassRequest pass, Participant participant, int replica, long run) {
        this(token, client, pass, participant, replica, run, Caller.UNKNOWN, ReadRequest.PLAIN);
    }

    /** Returns the same HELLO with an offer of local reads for rows of any size. */
    public Hello withLocalReads(int files) {
        return withLocalReads(files, 0);
    }

    /** Returns the same HELLO with an offer of local reads for rows of at least {@code from} payload bytes. */
    public Hello withLocalReads(int files, int from) {
        return with(caller, new ReadRequest(reading.epoch, reading.version, reading.skip, files, from));
    }

    /** Returns the same HELLO of a client that leaves out batches. */
    public Hello skipping(SkipList skipped) {
        return with(
                caller,
                new ReadRequest(reading.epoch, reading.version, skipped, reading.localFiles, reading.localReadsFrom));
    }

    /** Returns the same HELLO for an epoch that the client has not started to read. */
    public Hello at(long begun) {
        return at(begun, OptionalLong.empty());
    }

    /** Returns the same HELLO for an epoch that the client begins or resumes. */
    public Hello at(long begun, OptionalLong read) {
        return with(caller, at(OptionalLong.of(begun), read));
    }

    /** Returns the same HELLO of a client that looks at a version, or at the newest one. */
    public Hello lookingAt(OptionalLong read) {
        return with(caller.looking(), at(reading.epoch, read));
    }

    private ReadRequest at(OptionalLong begun, OptionalLong read) {
        return new ReadRequest(begun, read, reading.skip, reading.localFiles, reading.localReadsFrom);
    }

    /** Returns the same HELLO from a process. */
    public Hello by(Caller process) {
        return with(process, reading);
    }

    private Hello with(Caller process, ReadRequest request) {
        return new Hello(token, client, pass, participant, replica, run, process, request);
    }

    private static void requireNatural(String what, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(what + " is " + value + ": expected 0 … 2^31-1");
        }
    }

    public ByteBuffer body() {
        ByteBuffer json = json();
        ByteBuffer out = ByteBuffer.allocate(FIXED + json.remaining()).order(ByteOrder.LITTLE_ENDIAN);
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
    public static void checkVersion(ByteBuffer body) throws ProtocolException {
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
    public static Hello read(ByteBuffer body) throws ProtocolException {
        body.position(body.position() + Integer.BYTES + Short.BYTES);
        if (body.getShort() != 0) {
            throw ProtocolException.badFrame(FrameType.HELLO + ": reserved bytes are not 0");
        }
        return of(JsonObject.read(FrameType.HELLO, body));
    }

    private ByteBuffer json() {
        ObjectNode json = JsonObject.create();
        json.put("token", token.orElse(null));
        json.put("feed", pass.feed.orElse(null));
        json.put("stream", pass.stream.orElse(null));
        json.put("group", pass.group);
        json.set("order", pass.order.isEmpty() ? null : JsonObject.parse(pass.order.toJson()));
        json.put("rank", participant.rank());
        json.put("world_size", participant.worldSize());
        json.put("worker", participant.worker());
        json.put("workers", participant.workers());
        json.put("replica", replica);
        json.put("run", run);
        json.put("client", client);
        if (reading.localFiles > 0) {
            json.put("local_files", reading.localFiles);
            if (reading.localReadsFrom > 0) {
                json.put("local_reads_from", reading.localReadsFrom);
            }
        }
        reading.epoch.ifPresent(epoch -> json.put("epoch", epoch));
        reading.version.ifPresent(version -> json.put("version", version));
        write(caller, json);
        if (!reading.skip.ranges().isEmpty()) {
            ArrayNode ranges = json.putArray("skip");
            for (SkipList.Range range : reading.skip.ranges()) {
                ranges.addArray().add(range.epoch()).add(range.first()).add(range.last());
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

    private static Hello of(JsonObject json) throws ProtocolException {
        JsonNode order = json.get("order");
        return new Hello(
                json.optionalText("token"),
                json.optionalText("client").orElse(""),
                new PassRequest(
                        json.optionalText("feed"),
                        json.optionalText("stream"),
                        json.optionalText("group").orElse(DEFAULT_GROUP),
                        order == null ? OrderOverlay.NONE : OrderOverlay.fromJson(order)),
                new Participant(
                        json.optionalInt("rank", 0),
                        json.optionalInt("world_size", 1),
                        json.optionalInt("worker", 0),
                        json.optionalInt("workers", 1)),
                json.optionalInt("replica", 0),
                json.get("run") == null ? 0 : json.number("run", MAX_RUN),
                caller(json),
                new ReadRequest(
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

    @Override
    public FrameType type() {
        return FrameType.HELLO;
    }

    /** Omits the token. */
    @Override
    public String toString() {
        return "Hello[" + client + ", feed=" + pass.feed.orElse("any") + ", stream=" + pass.stream.orElse("first")
                + ", group=" + pass.group + ", order=" + pass.order + ", " + participant + ", replica=" + replica
                + ", run=" + run + "]";
    }
}

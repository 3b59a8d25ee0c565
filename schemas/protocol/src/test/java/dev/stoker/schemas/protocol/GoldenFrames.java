package dev.stoker.schemas.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.Frame.Selected;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import dev.stoker.schemas.protocol.parts.PieceSource;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.IntStream;

/** What the golden frames of the test vectors say, as objects. */
public final class GoldenFrames {
    private static final LaneMap LANES = new LaneMap(
            1790000000000L,
            7,
            List.of("10.0.0.1:7420", "10.0.0.2:7420"),
            List.of(List.of(0, 1), List.of(1, 0), List.of(0, 1), List.of(1)));

    private GoldenFrames() {}

    /** Returns the frame of a golden one, made from its fields. */
    public static Frame expected(ProtocolVectors.Golden golden) {
        JsonNode f = golden.fields();
        return switch (golden.name()) {
            case "hello" ->
                new Hello(
                        Optional.of("s3cret"),
                        "stoker-python/0.1.0",
                        new Hello.PassRequest(
                                Optional.of("photos"),
                                Optional.of("train"),
                                "default",
                                OrderOverlay.fromJson("{\"seed\":5,\"batch_size\":2}")),
                        new Participant(1, 4, 0, 2),
                        0,
                        1790000000001L);
            case "hello with nothing asked for" ->
                new Hello(
                        Optional.empty(),
                        "stoker-python/0.1.0",
                        new Hello.PassRequest(Optional.empty(), Optional.empty(), "default", OrderOverlay.NONE),
                        Participant.rank(0, 1),
                        0,
                        0);
            case "welcome" ->
                new Welcome(
                        new Welcome.FeedName(UUID.fromString("6f1d2c3b-4a59-5687-9768-a5b4c3d2e1f0"), "photos"),
                        new Welcome.StreamName(
                                "train", UUID.fromString("0b3f7f0e-64a5-4f0a-9c39-7d5a0c1e2f3a"), "phötos", 3, "train"),
                        new Welcome.StreamColumns(
                                List.of(
                                        new FieldInfo("label", "categorical", false, false),
                                        new FieldInfo("image", "binary", false, true)),
                                Map.of("label", List.of("cat", "dog \"rex\""))),
                        new Welcome.PassInfo(
                                new Fingerprint("0123456789abcdef0123456789abcdef"),
                                new OrderSpec(5, 2, 4, 1 << 20, ShufflePolicy.WINDOW, LaneOrder.MIXED),
                                List.of(3L, 2L, 2L, 0L),
                                7,
                                262_144,
                                OptionalLong.empty()),
                        LANES,
                        new Welcome.SessionInfo(1790000000001L, -1));
            case "subscribe to all lanes" -> new Subscribe(1, 0, 3, 4, 25, TailPolicy.PAD, List.of());
            case "subscribe to some lanes" ->
                new Subscribe(
                        2, 0xFFFF_FFFFL, 1L << 40, 8, 1000, TailPolicy.KEEP, List.of(0, 5, 65534), false, 1L << 39);
            case "subscribe with an empty share" -> new Subscribe(3, 2, 5, 8, 0, TailPolicy.KEEP, List.of(), true, 5);
            case "grant" -> new Grant(1, 35);
            case "batch", "batch without a message", "repeated piece" -> batch(f);
            case "ack" ->
                new Ack(
                        1,
                        0,
                        List.of(
                                new AckEntry(7, 0, false, 0xDEADBEEF, 2, 0, 2, 0xCAFEF00D),
                                new AckEntry(11, 1, true, 1, 64, 3, 0xFFFF_FFFFL, 7)));
            case "durable" -> new Durable(512);
            case "nack" -> new Nack(1, 0, 7, 2, 0xCAFEF00D);
            case "epoch end" -> new EpochEnd(1, 0, 25, 1600);
            case "ping" -> new Ping(0x8000000000000001L);
            case "pong" -> new Pong(0x8000000000000001L);
            case "bye" -> new Bye();
            case "error" -> new ErrorMessage(ErrorCode.ORDER_MISMATCH, "seed is 0 here, asked for 5");
            case "error of an unknown code" -> new ErrorMessage("from_the_future", "ü");
            case "lane map" -> LANES;
            case "hello that offers local reads" ->
                ((Hello) expected(ProtocolVectors.golden("hello with nothing asked for"))).withLocalReads(4096);
            case "hello that offers local reads of large rows" ->
                ((Hello) expected(ProtocolVectors.golden("hello with nothing asked for"))).withLocalReads(4096, 16384);
            case "hello that skips batches" ->
                ((Hello) expected(ProtocolVectors.golden("hello with nothing asked for")))
                        .skipping(new SkipList(List.of(
                                new SkipList.Range(0, 100, 110),
                                new SkipList.Range(0, 200, 200),
                                new SkipList.Range(0xFFFF_FFFFL, 0, SkipList.MAX_NUMBER))));
            case "hello that only looks" ->
                ((Hello) expected(ProtocolVectors.golden("hello with nothing asked for"))).by(Caller.UNKNOWN.looking());
            case "hello of a process that has joined a run" ->
                ((Hello) expected(ProtocolVectors.golden("hello with nothing asked for")))
                        .by(new Caller(
                                1790000000001L,
                                86_400_000_000_001L,
                                false,
                                Optional.of(new Instance(
                                        "0f9d3b0a-6c1e-4b8e-9a53-6f5c2f1f7c11", 4711, Long.MAX_VALUE, "gpü-3")),
                                Optional.of(new Launch("torchelastic", "job-7", 2))));
            case "error of a place that is taken" ->
                new ErrorMessage(ErrorCode.PLACE_TAKEN, "process 4711 on gpu-3 reads as rank 0 of 1");
            case "welcome with local reads" ->
                ((Welcome) expected(ProtocolVectors.golden("welcome"))).withLocalReads(256);
            case "file" -> new FileAnnouncement(255, 0xFFFF_FFFF_FFFF_FF01L, 77, 8 << 20, "/data/chünks/aa.arrow");
            case "reference" ->
                reference(
                        f,
                        List.of(
                                new BatchRef.Slice(255, 40, 1000),
                                new BatchRef.Slice(0, 1, 1 << 30),
                                new BatchRef.Slice(BatchRef.ZEROS, 23, 0)));
            case "reference of a repeated piece without payload" -> reference(f, List.of());
            case "release" -> new Release(16);
            case "lane map with a Unix-domain socket" ->
                new LaneMap(
                        LANES.startMs(),
                        LANES.counter(),
                        LANES.addresses(),
                        LANES.lanes(),
                        Map.of("10.0.0.1:7420", new UnixAddress("0f9d3b0a-6c1e-4b8e-9a53-6f5c2f1f7c11", "/run/st/s")));
            case "stats" ->
                new Stats(
                        60_000_000,
                        3_100_000,
                        1000,
                        64_000,
                        8_388_608,
                        Map.of("disk", 2_800_000L, "start", 300_000L),
                        List.of(
                                new Stats.Wait("10.0.0.2:7420", 3, "disk", 2_800_000, 12),
                                new Stats.Wait("10.0.0.1:7420", 65_535, "start", 300_000, 1)));
            case "stats of a client that has just begun" -> new Stats(0, 0, 0, 0, 0, Map.of(), List.of());
            case "delay" -> new Delay(1, 0xFFFF_FFFFL, 7, 2, 250_000, 0xFFFF_FFFFL, 0);
            case "select" -> Select.of(View.of(List.of("label", "image"), List.of("label")));
            case "select all columns" -> {
                List<String> fields =
                        IntStream.range(0, 15).mapToObj(i -> "f" + i).toList();
                yield Select.of(View.whole(fields));
            }
            case "select of many columns" -> {
                BitSet columns = new BitSet();
                IntStream.of(0, 4095, 10_000).forEach(columns::set);
                yield new Select(10_001, columns);
            }
            case "selected" ->
                new Selected(
                        4096,
                        View.of(List.of("label", "image"), List.of("label")).tag());
            case "get" ->
                new GetSamples(
                        1, false, List.of("cats/1.jpg", "../../etc/passwd", "a\0b\n", "äffchen", "cats/1.jpg", ""));
            case "get of places" -> new GetSamples(0xFFFF_FFFFL, true, List.of("k"));
            case "samples" ->
                new Samples(
                        1,
                        3,
                        false,
                        List.of(
                                Samples.Item.found(0, new SampleAddress(12, 5, 110_000, 0xDEADBEEF)),
                                Samples.Item.missing(1),
                                Samples.Item.damaged(
                                        3,
                                        new SampleAddress(1L << 40, 7, 3, 0),
                                        "chunk 12, row 7, key 'äffchen': damaged")),
                        ByteBuffer.wrap(HexFormat.of().parseHex(f.get("message").textValue())));
            case "samples that are missing" ->
                new Samples(2, 1, true, List.of(Samples.Item.missing(65_535)), ByteBuffer.allocate(0));
            case "list" -> new ListSamples(3, 1000, "cäts/", "/", "cäts/1.jpg");
            case "list everything" -> new ListSamples(4, 1, "", "", "");
            case "entries" ->
                new Entries(
                        3,
                        3,
                        true,
                        List.of(
                                new Entries.Entry(
                                        "cäts/1.jpg", Optional.of(new SampleAddress(12, 5, 110_000, 0xDEADBEEF))),
                                new Entries.Entry("cäts/b/", Optional.empty())));
            case "entries of an empty listing" -> new Entries(4, 1, false, List.of());
            default -> throw new IllegalArgumentException(golden.name());
        };
    }

    private static BatchRef reference(JsonNode f, List<BatchRef.Slice> slices) {
        byte[] inline = HexFormat.of().parseHex(f.get("inline").textValue());
        return new BatchRef(header(f, f.get("message").intValue()), ByteBuffer.wrap(inline), slices);
    }

    private static Batch batch(JsonNode f) {
        byte[] message = HexFormat.of().parseHex(f.get("message").textValue());
        return new Batch(header(f, message.length), ByteBuffer.wrap(message));
    }

    private static BatchHeader header(JsonNode f, int messageBytes) {
        BatchIdentity identity = new BatchIdentity(
                Long.parseUnsignedLong(f.get("feed_tag").textValue(), 16),
                Long.parseUnsignedLong(f.get("fingerprint_tag").textValue(), 16),
                f.get("epoch").longValue(),
                f.get("lane").longValue(),
                f.get("number").longValue(),
                f.get("piece").intValue(),
                f.get("pieces").intValue(),
                f.get("rows").longValue(),
                f.get("skipped").longValue(),
                f.get("repeated").booleanValue());
        int crc = Integer.parseUnsignedInt(f.get("crc").textValue(), 16);
        PieceSource source = new PieceSource(
                f.get("source_rows").longValue(),
                Long.parseUnsignedLong(f.get("view_tag").textValue(), 16),
                Integer.parseUnsignedInt(f.get("source_crc").textValue(), 16));
        return new BatchHeader(identity, source, f.get("subscription").longValue(), messageBytes, crc);
    }
}

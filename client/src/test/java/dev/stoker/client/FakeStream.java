package dev.stoker.client;

import dev.stoker.schemas.arrow.ColumnBuilder;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.RecordBatchParts;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;

/** A stream of generated samples: the sample at a place of a lane's epoch has the key {@code lane/place}. */
public record FakeStream(OrderSpec order, long[] laneRows, String fingerprint) {
    static final UUID FEED = UUID.fromString("6f9619ff-8b86-4d01-b42d-00cf4fc964ff");
    static final UUID DATASET = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");
    static final List<FieldInfo> FIELDS = List.of(
            new FieldInfo("label", "categorical", true, false),
            new FieldInfo("weight", "float32", true, false),
            new FieldInfo("place", "int64", false, false),
            new FieldInfo("even", "bool", false, false),
            new FieldInfo("tokens", "int32[]", false, false),
            new FieldInfo("data", "binary", false, false),
            new FieldInfo("at", "timestamp[us,Europe/Berlin]", false, false),
            new FieldInfo("price", "decimal(20,2)", false, false),
            new FieldInfo("tags", "utf8[]", true, false),
            new FieldInfo("marks", "int16?[]", false, false));
    static final Map<String, List<String>> CLASSES = Map.of("label", List.of("ant", "bee", "cat"));

    public static FakeStream of(int batchSize, long... laneRows) {
        OrderSpec d = OrderSpec.defaults();
        OrderSpec order = new OrderSpec(
                5, batchSize, Math.max(1, laneRows.length), d.shuffleWindowBytes(), d.shuffle(), d.laneOrder());
        return new FakeStream(order, laneRows, "00112233445566778899aabbccddeeff");
    }

    public Welcome welcome(LaneMap map, boolean takesStats) {
        List<Long> rows = new ArrayList<>();
        long samples = 0;
        for (long lane : laneRows) {
            rows.add(lane);
            samples += lane;
        }
        return new Welcome(
                new Welcome.FeedName(FEED, "fake"),
                new Welcome.StreamName("train", DATASET, "things", 3, "train"),
                new Welcome.StreamColumns(FIELDS, CLASSES),
                new Welcome.PassInfo(new Fingerprint(fingerprint), order, rows, samples, 4096, OptionalLong.empty()),
                map,
                new Welcome.SessionInfo(7, 1, 0, takesStats, false, OptionalLong.empty(), false));
    }

    public EpochNumbering numbering(long epoch) {
        return new EpochNumbering(order, laneRows, epoch);
    }

    /** What a participant is to receive, as text: number, repeated rows and keys. */
    public List<String> expected(long epoch, TailPolicy tail, Participant participant, long start) {
        return expected(epoch, tail, participant, start, SkipList.NONE);
    }

    /** The same of a client that leaves out some batches. */
    public List<String> expected(long epoch, TailPolicy tail, Participant participant, long start, SkipList skip) {
        EpochNumbering numbering = numbering(epoch);
        Delivery delivery = new Delivery(numbering.size(), tail, participant, start, skip.in(epoch, numbering.size()));
        List<String> batches = new ArrayList<>();
        for (long i = 0; i < delivery.steps(); i++) {
            var batch = Delivery.batch(numbering, tail, delivery.number(i));
            List<String> keys = new ArrayList<>();
            for (DeliveredPiece piece : batch.pieces()) {
                for (int row = 0; row < piece.rows(); row++) {
                    keys.add(key(piece.lane(), piece.firstRow() + row));
                }
            }
            batches.add(text(epoch, batch.number(), batch.repeatedRows(), keys));
        }
        return batches;
    }

    public static String text(long epoch, long number, int repeated, List<String> keys) {
        return epoch + "#" + number + " " + repeated + " " + keys;
    }

    public static String text(Batch batch) {
        return text(batch.epoch(), batch.number(), batch.repeated(), batch.keys());
    }

    /** Reads an epoch; each batch as text. */
    public static List<String> read(FeedClient feed) {
        List<String> batches = new ArrayList<>();
        for (Batch batch : feed.epoch()) {
            batches.add(text(batch));
            batch.close();
        }
        return batches;
    }

    public static String key(int lane, long place) {
        return lane + "/" + place;
    }

    public static byte[] data(int lane, long place) {
        return ("data of " + key(lane, place)).repeat(1 + (int) (place % 5)).getBytes(StandardCharsets.UTF_8);
    }

    /** The message of a piece. */
    public ByteBuffer message(DeliveredPiece piece) {
        List<ColumnBuilder> columns = new ArrayList<>();
        columns.add(new ColumnBuilder(ArrowField.of("key", ScalarType.UTF8)));
        for (FieldInfo field : FIELDS) {
            FieldType type = FieldType.parse(field.type());
            columns.add(new ColumnBuilder(
                    field.nullable() ? ArrowField.nullable(field.name(), type) : ArrowField.of(field.name(), type)));
        }
        for (int row = 0; row < piece.rows(); row++) {
            long place = piece.firstRow() + row;
            columns.get(0).appendString(key(piece.lane(), place));
            if (place % 7 == 5) {
                columns.get(1).appendNull();
            } else {
                columns.get(1).appendLong(place % 3);
            }
            if (place % 4 == 0) {
                columns.get(2).appendNull();
            } else {
                columns.get(2).appendDouble(place / 2.0);
            }
            columns.get(3).appendLong(place);
            columns.get(4).appendBoolean(place % 2 == 0);
            columns.get(5).appendInts(new int[(int) (place % 3)]);
            columns.get(6).appendBytes(data(piece.lane(), place));
            columns.get(7).appendLong(-place);
            columns.get(8).appendDecimal(BigDecimal.valueOf(-place, 2));
            if (place % 3 == 0) {
                columns.get(9).appendNull();
            } else {
                columns.get(9).appendStrings(Collections.nCopies((int) (place % 3), "tag " + place));
            }
            columns.get(10).appendItems(Arrays.asList(null, ByteBuffer.wrap(new byte[] {(byte) place, 0})));
        }
        RecordBatchLayout layout = RecordBatchLayout.of(
                columns.stream().map(column -> column.field().type()).toList(), new boolean[columns.size()]);
        RecordBatchParts parts = new RecordBatchParts(layout, piece.rows());
        for (int c = 0; c < columns.size(); c++) {
            parts.set(c, columns.get(c));
        }
        ByteBuffer message = ByteBuffer.allocate((int) parts.smallLength()).order(ByteOrder.LITTLE_ENDIAN);
        parts.writeSmall(message);
        return message.flip();
    }
}

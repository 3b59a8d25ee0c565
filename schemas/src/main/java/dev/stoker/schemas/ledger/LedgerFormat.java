package dev.stoker.schemas.ledger;

import dev.stoker.schemas.avro.AvroHeader;
import dev.stoker.schemas.avro.AvroInput;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the bytes of ledger files, which are Avro object containers:
 *
 * <pre> header metadata avro.schema, avro.codec = null, stoker.format = 1; 16 random sync bytes block number of
 * records, bytes of them, the records, the sync bytes … block the last record of the last block is End record branch of
 * the union (0 Subscription, 1 Receipts, 2 End, 3 Part), fields, CRC-32C of all these bytes (little-endian)
 * </pre>
 */
final class LedgerFormat {

    static final int FORMAT = 1;

    static final int SUBSCRIPTION = 0;
    static final int RECEIPTS = 1;
    static final int END = 2;
    static final int PART = 3;

    /** Length at which a block ends. One record may make a block longer. */
    static final int BLOCK_BYTES = 1 << 16;

    /** Maximum length of a block, which bounds the memory of a reader. */
    static final int MAX_BLOCK_BYTES = 64 << 20;

    /** Bytes of a record's CRC. */
    static final int CRC_BYTES = 4;

    private static final int RECEIPT_BYTES = 8;

    private static final int PART_ID_BYTES = 16;

    private static final int TAG_DIGITS = 16;

    private static final String CONSUMER = "{\"name\":\"at_ms\",\"type\":\"long\"},"
            + "{\"name\":\"feed\",\"type\":\"string\"},"
            + "{\"name\":\"stream\",\"type\":\"string\"},"
            + "{\"name\":\"group\",\"type\":\"string\"},"
            + "{\"name\":\"fingerprint\",\"type\":\"string\"},"
            + "{\"name\":\"run\",\"type\":\"long\"},"
            + "{\"name\":\"rank\",\"type\":\"int\"},"
            + "{\"name\":\"world_size\",\"type\":\"int\"},"
            + "{\"name\":\"worker\",\"type\":\"int\"},"
            + "{\"name\":\"workers\",\"type\":\"int\"},"
            + "{\"name\":\"replica\",\"type\":\"int\"},"
            + "{\"name\":\"epoch\",\"type\":\"long\"},";

    static final String SCHEMA =
            "[{\"type\":\"record\",\"name\":\"Subscription\",\"namespace\":\"dev.stoker\",\"fields\":["
                    + CONSUMER
                    + "{\"name\":\"first\",\"type\":\"long\"},"
                    + "{\"name\":\"stride\",\"type\":\"long\"},"
                    + "{\"name\":\"count\",\"type\":\"long\"},"
                    + "{\"name\":\"tail\",\"type\":\"string\"},"
                    + "{\"name\":\"dataset\",\"type\":\"string\"},"
                    + "{\"name\":\"version\",\"type\":\"long\"},"
                    + "{\"name\":\"split\",\"type\":\"string\"},"
                    + "{\"name\":\"order\",\"type\":\"string\"},"
                    + "{\"name\":\"view\",\"type\":\"string\"},"
                    + "{\"name\":\"skip\",\"type\":\"string\"},"
                    + "{\"name\":\"begin\",\"type\":\"long\"},"
                    + "{\"name\":\"crc32c\",\"type\":{\"type\":\"fixed\",\"name\":\"Crc32c\",\"size\":4}}]},"
                    + "{\"type\":\"record\",\"name\":\"Receipts\",\"namespace\":\"dev.stoker\",\"fields\":["
                    + CONSUMER
                    + "{\"name\":\"view\",\"type\":\"string\"},"
                    + "{\"name\":\"entries\",\"type\":{\"type\":\"array\","
                    + "\"items\":{\"type\":\"record\",\"name\":\"Receipt\",\"fields\":["
                    + "{\"name\":\"number\",\"type\":\"long\"},"
                    + "{\"name\":\"piece\",\"type\":\"int\"},"
                    + "{\"name\":\"repeated\",\"type\":\"boolean\"},"
                    + "{\"name\":\"rows\",\"type\":\"int\"},"
                    + "{\"name\":\"skipped\",\"type\":\"int\"},"
                    + "{\"name\":\"crc32c\",\"type\":\"long\"},"
                    + "{\"name\":\"source_rows\",\"type\":\"int\"},"
                    + "{\"name\":\"source_crc32c\",\"type\":\"long\"}]}}},"
                    + "{\"name\":\"crc32c\",\"type\":\"Crc32c\"}]},"
                    + "{\"type\":\"record\",\"name\":\"End\",\"namespace\":\"dev.stoker\",\"fields\":["
                    + "{\"name\":\"records\",\"type\":\"long\"},"
                    + "{\"name\":\"crc32c\",\"type\":\"Crc32c\"}]},"
                    + "{\"type\":\"record\",\"name\":\"Part\",\"namespace\":\"dev.stoker\",\"fields\":["
                    + "{\"name\":\"id\",\"type\":{\"type\":\"fixed\",\"name\":\"PartId\",\"size\":16}},"
                    + "{\"name\":\"crc32c\",\"type\":\"Crc32c\"}]}]";

    private LedgerFormat() {}

    /** Returns the metadata of every file of this format version. */
    static Map<String, String> metadata() {
        Map<String, String> metadata = new LinkedHashMap<>();
        metadata.put("avro.schema", SCHEMA);
        metadata.put("avro.codec", "null");
        metadata.put("stoker.format", Integer.toString(FORMAT));
        return metadata;
    }

    static byte[] header(byte[] sync) {
        if (sync.length != AvroHeader.SYNC_LENGTH) {
            throw new IllegalArgumentException("A sync marker has 16 bytes, not " + sync.length);
        }
        AvroOutput out = new AvroOutput();
        new AvroHeader(metadata(), sync).write(out);
        return out.toByteArray();
    }

    static void write(LedgerRecord entry, AvroOutput out) {
        int start = out.size();
        if (entry instanceof Subscription subscription) {
            out.writeLong(SUBSCRIPTION);
            writeConsumer(subscription.atMs(), subscription.consumer(), subscription.epoch(), out);
            out.writeLong(subscription.first());
            out.writeLong(subscription.stride());
            out.writeLong(subscription.count());
            out.writeString(subscription.tail());
            out.writeString(subscription.source().dataset());
            out.writeLong(subscription.source().version());
            out.writeString(subscription.source().split());
            out.writeString(subscription.source().order());
            out.writeString(subscription.view());
            out.writeString(subscription.skip());
            out.writeLong(subscription.begin());
        } else {
            Receipts receipts = (Receipts) entry;
            out.writeLong(RECEIPTS);
            writeConsumer(receipts.atMs(), receipts.consumer(), receipts.epoch(), out);
            out.writeString(View.digits(receipts.viewTag()));
            writeReceipts(receipts.entries(), out);
        }
        writeCrc(out, start);
    }

    static void writeEnd(long records, AvroOutput out) {
        int start = out.size();
        out.writeLong(END);
        out.writeLong(records);
        writeCrc(out, start);
    }

    static void writePart(UUID id, AvroOutput out) {
        int start = out.size();
        out.writeLong(PART);
        out.writeFixed(ByteBuffer.allocate(PART_ID_BYTES)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array());
        writeCrc(out, start);
    }

    private static void writeCrc(AvroOutput out, int start) {
        int crc = Crc32cs.of(out.array(), start, out.size() - start);
        out.writeFixed(new byte[] {(byte) crc, (byte) (crc >>> 8), (byte) (crc >>> 16), (byte) (crc >>> 24)});
    }

    private static void writeConsumer(long atMs, Consumer consumer, long epoch, AvroOutput out) {
        out.writeLong(atMs);
        out.writeString(consumer.feed());
        out.writeString(consumer.stream());
        out.writeString(consumer.group());
        out.writeString(consumer.fingerprint());
        out.writeLong(consumer.run());
        out.writeInt(consumer.rank());
        out.writeInt(consumer.worldSize());
        out.writeInt(consumer.worker());
        out.writeInt(consumer.workers());
        out.writeInt(consumer.replica());
        out.writeLong(epoch);
    }

    private static void writeReceipts(List<Receipt> receipts, AvroOutput out) {
        out.writeLong(receipts.size());
        for (Receipt receipt : receipts) {
            out.writeLong(receipt.number());
            out.writeInt(receipt.piece());
            out.writeBoolean(receipt.repeated());
            out.writeInt(receipt.rows());
            out.writeInt(receipt.skipped());
            out.writeLong(Integer.toUnsignedLong(receipt.crc32c()));
            out.writeInt(receipt.sourceRows());
            out.writeLong(Integer.toUnsignedLong(receipt.sourceCrc32c()));
        }
        if (!receipts.isEmpty()) {
            out.writeLong(0);
        }
    }

    /** A parsed record: an entry, the id of a part, or the end with the number of records before it. */
    record Parsed(@Nullable LedgerRecord entry, @Nullable UUID part, long records) {}

    /** Reads one record of a block, including its CRC. */
    static Parsed read(AvroInput in, byte[] block) throws CorruptDataException {
        int start = in.position();
        try {
            long branch = in.readLong();
            Parsed parsed;
            if (branch == SUBSCRIPTION) {
                parsed = new Parsed(readSubscription(in), null, 0);
            } else if (branch == RECEIPTS) {
                parsed = new Parsed(readReceipts(in), null, 0);
            } else if (branch == END) {
                parsed = new Parsed(null, null, in.readLong());
            } else if (branch == PART) {
                ByteBuffer id = ByteBuffer.wrap(in.readFixed(PART_ID_BYTES));
                parsed = new Parsed(null, new UUID(id.getLong(), id.getLong()), 0);
            } else {
                throw in.corrupt("the kind of a record", "0 to 3", branch);
            }
            int actual = Crc32cs.of(block, start, in.position() - start);
            byte[] bytes = in.readFixed(CRC_BYTES);
            int stated = (bytes[0] & 0xFF) | (bytes[1] & 0xFF) << 8 | (bytes[2] & 0xFF) << 16 | (bytes[3] & 0xFF) << 24;
            if (stated != actual) {
                throw in.corrupt("a record's CRC32C", Crc32cs.hex(stated), Crc32cs.hex(actual));
            }
            return parsed;
        } catch (IllegalArgumentException e) {
            throw new CorruptDataException(in.file() + " is corrupt: " + e.getMessage(), e);
        }
    }

    private record Common(long atMs, Consumer consumer, long epoch) {}

    private static Common readCommon(AvroInput in) throws CorruptDataException {
        long atMs = in.readLong();
        Consumer consumer = new Consumer(
                in.readString(),
                in.readString(),
                in.readString(),
                in.readString(),
                in.readLong(),
                in.readInt(),
                in.readInt(),
                in.readInt(),
                in.readInt(),
                in.readInt());
        return new Common(atMs, consumer, in.readLong());
    }

    private static Subscription readSubscription(AvroInput in) throws CorruptDataException {
        Common common = readCommon(in);
        return new Subscription(
                common.atMs,
                common.consumer,
                common.epoch,
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readString(),
                new Source(in.readString(), in.readLong(), in.readString(), in.readString()),
                in.readString(),
                in.readString(),
                in.readLong());
    }

    private static Receipts readReceipts(AvroInput in) throws CorruptDataException {
        Common common = readCommon(in);
        long viewTag = readTag(in);
        int count = in.readItems(RECEIPT_BYTES);
        List<Receipt> receipts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long number = in.readLong();
            int piece = in.readInt();
            boolean repeated = in.readBoolean();
            int rows = in.readInt();
            int skipped = in.readInt();
            int crc = readCrc(in);
            receipts.add(new Receipt(number, piece, repeated, rows, skipped, crc, in.readInt(), readCrc(in)));
        }
        in.endItems(count);
        return new Receipts(common.atMs, common.consumer, common.epoch, viewTag, receipts);
    }

    private static int readCrc(AvroInput in) throws CorruptDataException {
        long crc = in.readLong();
        if (crc >>> 32 != 0) {
            throw in.corrupt("a receipt's CRC32C", "32 bits", crc);
        }
        return (int) crc;
    }

    private static long readTag(AvroInput in) throws CorruptDataException {
        String digits = in.readString();
        boolean hex = digits.length() == TAG_DIGITS && digits.chars().allMatch(HexFormat::isHexDigit);
        if (!hex || !digits.equals(View.digits(HexFormat.fromHexDigitsToLong(digits)))) {
            throw in.corrupt("the view of receipts", "16 hexadecimal digits", digits);
        }
        return HexFormat.fromHexDigitsToLong(digits);
    }
}

package dev.stoker.client;

import dev.stoker.client.topic.TopicLog;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordValue;
import dev.stoker.schemas.kafka.SampleValue;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.LanePieces;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** A topic in memory, and a feed that writes a {@link FakeStream} to it. Thread-safe. */
public final class FakeTopic {
    /** Headers and value; both null for the marker of a transaction. */
    public record Content(Map<String, byte[]> headers, byte[] value) {
        public static final Content MARKER = new Content(null, null);
    }

    private static final int POLLED = 5;

    private final FakeStream stream;
    private final int parts;
    private final TopicInfo.Values values;
    public final List<List<Content>> partitions = new ArrayList<>();
    final Map<Integer, Long> committed = new TreeMap<>();
    /** What the next poll throws. */
    volatile Error error;

    /** The number of next commits that do not arrive. */
    int lostCommits;

    long begin;
    boolean isThere = true;

    /** The offset up to which some partition was read on. */
    private long read;

    private int looks;
    private long given;

    /** @param parts records of a piece, at most a row each */
    public FakeTopic(FakeStream stream, int parts) {
        this(stream, parts, TopicInfo.Values.ARROW);
    }

    /** @param values what records hold; of samples a piece has as many as rows */
    public FakeTopic(FakeStream stream, int parts, TopicInfo.Values values) {
        this.stream = stream;
        this.parts = values.format() == ValueFormat.AVRO ? Integer.MAX_VALUE : parts;
        this.values = values;
        for (int lane = 0; lane < stream.laneRows().length; lane++) {
            partitions.add(new ArrayList<>());
        }
    }

    /** Writes epochs to the end of all partitions. */
    public FakeTopic write(long... epochs) {
        for (long epoch : epochs) {
            for (int lane = 0; lane < partitions.size(); lane++) {
                partitions.get(lane).addAll(records(epoch, lane));
            }
        }
        return this;
    }

    /** The dataset's fields. */
    public static List<Field> fields() {
        return FakeStream.FIELDS.stream()
                .map(field -> new Field(field.name(), FieldType.parse(field.type()), field.nullable(), field.payload()))
                .toList();
    }

    /** Writes an epoch of a feed that follows its dataset, from one of its versions. */
    public FakeTopic write(FakeStream of, long version, long epoch) {
        for (int lane = 0; lane < partitions.size(); lane++) {
            partitions.get(lane).addAll(records(of, version, OptionalLong.of(epoch), epoch, lane));
        }
        return this;
    }

    /** The records of a lane's epoch. */
    public List<Content> records(long epoch, int lane) {
        return records(stream, 3, OptionalLong.empty(), epoch, lane);
    }

    private List<Content> records(FakeStream of, long version, OptionalLong only, long epoch, int lane) {
        List<Field> fields = fields();
        List<Long> laneRows = new ArrayList<>();
        for (long rows : of.laneRows()) {
            laneRows.add(rows);
        }
        Fingerprint fingerprint = new Fingerprint(of.fingerprint());
        TopicInfo info = new TopicInfo(
                FakeStream.FEED,
                "fake",
                "train",
                FakeStream.DATASET,
                "things",
                version,
                "train",
                fingerprint,
                of.order(),
                fields,
                FakeStream.CLASSES,
                laneRows,
                OptionalLong.empty(),
                917_504,
                values,
                only);
        EpochNumbering numbering = of.numbering(epoch);
        LanePieces pieces = new LanePieces(numbering, lane);
        List<Content> records = new ArrayList<>();
        byte[] value = info.value(lane, pieces.count(), EpochCounts.NONE);
        RecordHeader begin = RecordHeader.control(RecordKind.EPOCH_BEGIN, fingerprint, version, epoch, lane);
        records.add(content(begin.with(values.format(), 0), value));
        for (long i = 0; i < pieces.count(); i++) {
            long number = pieces.number(i);
            List<Piece> batch = numbering.batch(number);
            int index = 0;
            int before = 0;
            while (batch.get(index).lane() != lane) {
                before += batch.get(index++).rows();
            }
            Piece piece = batch.get(index);
            int count = Math.min(parts, piece.rows());
            for (int part = 0; part < count; part++) {
                int from = part * piece.rows() / count;
                int rows = (part + 1) * piece.rows() / count - from;
                ByteBuffer message = of.message(new DeliveredPiece(lane, piece.firstRow() + from, rows, false));
                RecordHeader header = new RecordHeader(
                        RecordKind.BATCH,
                        fingerprint,
                        version,
                        epoch,
                        number,
                        lane,
                        index,
                        batch.size(),
                        part,
                        count,
                        rows,
                        0);
                boolean isSample = values.format() == ValueFormat.AVRO;
                records.add(
                        content(header.with(values.format(), isSample ? before + part : 0), value(fields, message)));
            }
        }
        RecordHeader end = RecordHeader.control(RecordKind.EPOCH_END, fingerprint, version, epoch, lane);
        records.add(content(end.with(values.format(), 0), value));
        return records;
    }

    private byte[] value(List<Field> fields, ByteBuffer message) {
        if (values.format() == ValueFormat.ARROW) {
            int length = message.remaining();
            return new RecordValue(fields).around(new ByteBuffer[] {message}, length);
        }
        SampleValue sample = new SampleValue(fields, FakeStream.CLASSES, values.schemaId());
        try {
            return sample.of(sample.columns(message, "a made-up sample"), 0);
        } catch (StokerException e) {
            throw new AssertionError(e);
        }
    }

    public static Content content(RecordHeader header, byte[] value) {
        return new Content(header.headers(header.crc(Crc32cs.of(value), value.length)), value);
    }

    public synchronized long read() {
        return read;
    }

    /** How often consumers moved to another offset to look up a record. */
    public synchronized int looks() {
        return looks;
    }

    /** Records that consumers were given. */
    public synchronized long given() {
        return given;
    }

    public TopicLog log() {
        return new Log();
    }

    /** One consumer. */
    private final class Log implements TopicLog {
        private final Map<Integer, Long> at = new TreeMap<>();
        private final Set<Integer> paused = new HashSet<>();

        @Override
        public int partitions() {
            return isThere ? partitions.size() : 0;
        }

        @Override
        public void readFrom(Map<Integer, Long> offsets) {
            at.clear();
            paused.clear();
            at.putAll(offsets);
        }

        @Override
        public void seek(int partition, long offset) {
            at.put(partition, offset);
            paused.remove(partition);
        }

        @Override
        public void pause(Collection<Integer> lanes) {
            assert at.keySet().containsAll(lanes);
            paused.addAll(lanes);
        }

        @Override
        public void resume(Collection<Integer> lanes) {
            assert at.keySet().containsAll(lanes);
            paused.removeAll(lanes);
        }

        @Override
        public Found poll(Duration most) {
            synchronized (FakeTopic.this) {
                if (error != null) {
                    throw error;
                }
                Set<Integer> lost = new HashSet<>();
                List<Entry> entries = new ArrayList<>();
                for (int partition : at.keySet()) {
                    if (paused.contains(partition)) {
                        continue;
                    }
                    if (at.get(partition) < begin
                            || at.get(partition) > partitions.get(partition).size()) {
                        lost.add(partition);
                        continue;
                    }
                    for (int i = 0; i < POLLED; i++) {
                        take(partition).ifPresent(entries::add);
                    }
                    read = Math.max(read, at.get(partition));
                }
                if (entries.isEmpty() && !most.isZero()) {
                    waitShortly();
                }
                return new Found(entries, lost);
            }
        }

        @SuppressWarnings("ReferenceEquality") // The marker is one object.
        private Optional<Entry> take(int partition) {
            List<Content> log = partitions.get(partition);
            long offset = at.get(partition);
            while (offset < log.size() && log.get((int) offset) == Content.MARKER) {
                offset++;
            }
            at.put(partition, Math.min(offset + 1, log.size()));
            if (offset >= log.size()) {
                return Optional.empty();
            }
            Content content = log.get((int) offset);
            given++;
            return Optional.of(new Entry(partition, offset, content.headers, content.value));
        }

        private void waitShortly() {
            try {
                FakeTopic.this.wait(2);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void commit(Map<Integer, Long> offsets, Runnable lost) {
            synchronized (FakeTopic.this) {
                if (lostCommits == 0) {
                    committed.putAll(offsets);
                    return;
                }
                lostCommits--;
            }
            lost.run();
        }

        @Override
        public void commitAndWait(Map<Integer, Long> offsets) {
            synchronized (FakeTopic.this) {
                committed.putAll(offsets);
            }
        }

        @Override
        public Optional<Long> begin(int partition) {
            return Optional.of(begin);
        }

        @Override
        public Optional<Long> end(int partition) {
            synchronized (FakeTopic.this) {
                return Optional.of((long) partitions.get(partition).size());
            }
        }

        @Override
        public void look(int partition, long offset) {
            synchronized (FakeTopic.this) {
                looks++;
            }
            readFrom(Map.of(partition, offset));
        }

        @Override
        public Optional<Entry> next() {
            synchronized (FakeTopic.this) {
                return take(at.keySet().iterator().next());
            }
        }

        @Override
        public long position() {
            return at.values().iterator().next();
        }

        @Override
        public boolean isAnswered() {
            return true;
        }

        @Override
        public String trouble() {
            return "";
        }

        @Override
        public void close() {
            at.clear();
        }
    }
}

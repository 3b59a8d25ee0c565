package dev.stoker.client.topic;

import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.PieceRequest;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.MessageJoin;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordValue;
import dev.stoker.schemas.kafka.SampleReader;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.parts.PieceSource;
import dev.stoker.schemas.text.Units;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Makes pieces from records: joins parts and cuts off rows that are not wanted. One thread. */
final class TopicPieces {
    private final TopicTarget target;
    private final TopicInfo info;
    private final List<Field> fields;
    private final View view;
    private final MessageJoin joins;
    /** Reads records that hold one sample each. */
    private final SampleReader samples;

    private final Buffers buffers;

    TopicPieces(TopicTarget target, TopicInfo info, View view, Buffers buffers) {
        this.target = target;
        this.info = info;
        this.fields = info.fields();
        this.view = view;
        this.joins = new MessageJoin(fields, view);
        this.samples = new SampleReader(fields, info.classes(), info.values().schemaId());
        this.buffers = buffers;
    }

    /** Refuses a record of another feed. If each epoch has a separate version, records of other epochs are skipped. */
    void require(int lane, VerifiedRecord record) {
        boolean isOfEpoch =
                info.epoch().orElse(record.header().epoch()) == record.header().epoch();
        if (isOfEpoch && !record.header().fingerprint().equals(info.fingerprint())) {
            throw new StateMismatchException(VerifiedRecord.where(target, lane, record.offset()) + ": "
                    + record.position() + " belongs to another feed: fingerprint "
                    + record.header().fingerprint() + ", expected " + info.fingerprint()
                    + ". A topic holds one feed");
        }
        ValueFormat format = info.values().format();
        if (record.header().values() != format) {
            throw new StateMismatchException(VerifiedRecord.where(target, lane, record.offset()) + ": "
                    + record.position() + " was written with --value-format "
                    + record.header().values().text() + ", the other records of this feed with " + format.text()
                    + ". A topic has one format");
        }
    }

    /** Refuses a record whose number of parts differs from that of the parts before it. */
    void requireSameParts(List<VerifiedRecord> before, VerifiedRecord record) {
        if (!before.isEmpty()
                && before.get(0).header().parts() != record.header().parts()) {
            throw new CorruptBatchException(
                    VerifiedRecord.where(target, record.header().lane(), record.offset()) + ": expected "
                            + Units.plural(before.get(0).header().parts(), "part") + " as in the records before, found "
                            + record.header().parts() + ": feed the epoch again into a new topic");
        }
    }

    /** Makes a piece of a batch from all parts of the batch in its lane. */
    ReceivedPiece piece(Span span, long index, int number, List<VerifiedRecord> parts) {
        List<PieceRequest> requests =
                PieceRequest.of(span.numbering(), span.range().tail(), span.number(index));
        PieceRequest request = requests.get(number);
        RecordHeader header = parts.get(0).header();
        int rows = parts.stream().mapToInt(part -> part.header().rows()).sum();
        int skipped = parts.stream().mapToInt(part -> part.header().skipped()).sum();
        if (rows + skipped != request.of()) {
            throw new CorruptBatchException(
                    target + ": epoch " + header.epoch() + " batch " + request.batch() + ", lane "
                            + request.lane() + " has " + Units.plural(rows, "row") + " and " + skipped
                            + " left out; the order expects "
                            + request.of() + " in total");
        }
        if (request.rows() < request.of()) {
            rows = Math.min(request.rows(), rows);
            skipped = request.rows() - rows;
        }
        ByteBuffer message = message(parts, rows);
        BatchIdentity identity = new BatchIdentity(
                0,
                0,
                header.epoch(),
                request.lane(),
                span.number(index),
                number,
                requests.size(),
                rows,
                skipped,
                request.isRepeated());
        return new ReceivedPiece(
                new BatchHeader(identity, new PieceSource(rows, view.tag(), 0), 0, message.limit(), 0),
                message,
                target + ", partition " + request.lane() + ", offset "
                        + parts.get(0).offset());
    }

    /** Returns the message with the first rows of some parts. */
    private ByteBuffer message(List<VerifiedRecord> parts, int rows) {
        try {
            if (info.values().format() == ValueFormat.AVRO) {
                return messageOfSamples(parts, rows);
            }
            if (parts.size() == 1 && parts.get(0).header().rows() == rows && view.isWhole()) {
                ByteBuffer found = RecordValue.messageIn(parts.get(0).value(), where(parts.get(0)));
                ByteBuffer message = buffers.take(found.remaining());
                message.duplicate().put(found);
                return message;
            }
            List<MessageJoin.Cut> cuts = new ArrayList<>();
            int left = rows;
            for (VerifiedRecord part : parts) {
                int taken = Math.min(left, part.header().rows());
                ByteBuffer message = RecordValue.messageIn(part.value(), where(part));
                cuts.add(new MessageJoin.Cut(columns(message, where(part)), 0, taken));
                left -= taken;
            }
            return joins.join(cuts, buffers::take);
        } catch (StokerException e) {
            throw new CorruptBatchException(ErrorText.of(e));
        }
    }

    private ByteBuffer messageOfSamples(List<VerifiedRecord> parts, int rows) throws StokerException {
        int left = rows;
        for (VerifiedRecord part : parts) {
            if (part.header().rows() + part.header().skipped() != 1) {
                throw new CorruptBatchException(where(part) + ": expected a record of one sample, found "
                        + Units.plural(part.header().rows(), "row") + " and "
                        + part.header().skipped() + " left out: feed the epoch again into a new topic");
            }
            if (part.header().rows() == 1 && left-- > 0) {
                samples.add(part.value(), where(part));
            }
        }
        if (view.isWhole()) {
            return samples.message(buffers::take);
        }
        ByteBuffer message = samples.message(ByteBuffer::allocate);
        return joins.join(List.of(new MessageJoin.Cut(columns(message, target.toString()), 0, rows)), buffers::take);
    }

    /** Returns the wanted columns of a message of the topic, which has all columns. */
    private List<ArrowColumn> columns(ByteBuffer message, String where) throws StokerException {
        List<ArrowColumn> all = BatchColumns.read(message, fields, where);
        return Arrays.stream(view.numbers()).mapToObj(all::get).toList();
    }

    private String where(VerifiedRecord record) {
        return VerifiedRecord.where(target, record.header().lane(), record.offset());
    }
}

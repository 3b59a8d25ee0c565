package dev.stoker.feeder.topic.record;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.SampleValue;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.server.StreamContent;
import dev.stoker.server.window.BuiltPiece;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.PieceKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a record of each sample of a piece. The piece is read as a batch, compared with the samples' checksums, and
 * taken apart; if samples were left out, row by row, because a record takes their place. One thread.
 */
final class SampleRecords implements RecordMaker {
    private final PieceBuilder builder;
    private final SampleValue values;
    private final TopicInfo info;

    SampleRecords(StreamContent content, GroupOrder order, TopicInfo info) {
        this.builder = content.builder(order);
        this.values =
                new SampleValue(info.fields(), info.classes(), info.values().schemaId());
        this.info = info;
    }

    /** A checked message. */
    private record Rows(byte[] message, int rows, int skipped) {}

    @Override
    public List<Made> of(EpochOrder epoch, int lane, long number) throws IOException {
        List<Piece> pieces = epoch.batch(number);
        int index = 0;
        int before = 0;
        while (pieces.get(index).lane() != lane) {
            before += pieces.get(index++).rows();
        }
        Piece piece = pieces.get(index);
        Rows whole = read(epoch, number, piece);
        List<ArrowColumn> columns = columns(whole, epoch, number);
        List<Made> made = new ArrayList<>();
        for (int row = 0; row < piece.rows(); row++) {
            Rows at = whole;
            List<ArrowColumn> of = columns;
            int place = row;
            if (whole.skipped() > 0) {
                at = read(epoch, number, PieceRecords.cut(piece, row, piece.rows()));
                of = columns(at, epoch, number);
                place = 0;
            }
            boolean isThere = at.rows() > place;
            byte[] value = isThere ? values.of(of, place) : new byte[0];
            if (value.length > info.maxRecordBytes()) {
                throw PieceRecords.tooLarge(SampleValue.key(of, place), value.length, info.maxRecordBytes());
            }
            RecordHeader header = new RecordHeader(
                            RecordKind.BATCH,
                            info.fingerprint(),
                            info.version(),
                            epoch.epoch(),
                            number,
                            lane,
                            index,
                            pieces.size(),
                            row,
                            piece.rows(),
                            isThere ? 1 : 0,
                            isThere ? 0 : 1)
                    .with(ValueFormat.AVRO, before + row);
            made.add(new Made(header, TopicRecord.of(header, value)));
        }
        return made;
    }

    private List<ArrowColumn> columns(Rows rows, EpochOrder epoch, long number) throws IOException {
        return values.columns(ByteBuffer.wrap(rows.message()), "epoch " + epoch.epoch() + " batch " + number);
    }

    private Rows read(EpochOrder epoch, long number, Piece piece) throws IOException {
        PieceKey key = PieceRecords.key(epoch, number, piece);
        for (int attempt = 1; ; attempt++) {
            try (BuiltPiece built = attempt == 1 ? builder.build(key) : builder.rebuild(key)) {
                ByteBuffer message = ByteBuffer.allocate(Math.toIntExact(built.bytes() - BatchHeader.BYTES));
                for (ByteBuffer part : PieceRecords.message(built)) {
                    message.put(part);
                }
                if (PieceRecords.isRight(built, Crc32cs.of(message.array()), message.capacity())) {
                    return new Rows(message.array(), built.rows(), built.skipped());
                }
            }
            if (attempt == PieceRecords.ATTEMPTS) {
                throw PieceRecords.wrong(epoch, number, piece);
            }
        }
    }

    @Override
    public void close() {
        builder.close();
    }
}

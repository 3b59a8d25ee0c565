package dev.stoker.feeder.topic.record;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordValue;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.server.StreamContent;
import dev.stoker.server.window.BuiltPiece;
import dev.stoker.server.window.GroupOrder;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.PieceKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates the records of a piece: one record, or numbered parts if the piece is too large for one record. All samples
 * are compared with their checksums before they are written. For one thread.
 */
final class PieceRecords implements RecordMaker {

    static final int ATTEMPTS = 3;

    private final PieceBuilder builder;
    private final RecordValue values;
    private final Fingerprint fingerprint;
    private final long version;
    private final int maxBytes;

    /** @param maxBytes maximum size of a record's value in bytes */
    PieceRecords(StreamContent content, GroupOrder order, int maxBytes) {
        this.builder = content.builder(order);
        this.values = new RecordValue(order.stream().fields());
        this.fingerprint = order.fingerprint();
        this.version = order.stream().version();
        this.maxBytes = maxBytes;
    }

    /**
     * Returns the records of a lane's piece of a batch, in order.
     *
     * @throws CorruptDataException if a sample is damaged and may not be skipped
     * @throws IOException if the origin fails, or a sample is too large for a record
     */
    @Override
    public List<Made> of(EpochOrder epoch, int lane, long number) throws IOException {
        List<Piece> pieces = epoch.batch(number);
        int index = 0;
        while (pieces.get(index).lane() != lane) {
            index++;
        }
        Piece piece = pieces.get(index);
        List<Made> alone = parts(epoch, number, piece, index, pieces.size(), 1);
        if (!alone.isEmpty()) {
            return alone;
        }
        long whole = size(epoch, number, piece);
        // Rows are of similar size, so the first attempt usually succeeds.
        for (int parts = (int) Math.max(2, (whole + maxBytes - 1) / maxBytes); parts <= piece.rows(); parts++) {
            List<Made> made = parts(epoch, number, piece, index, pieces.size(), parts);
            if (!made.isEmpty()) {
                return made;
            }
        }
        throw tooLarge(epoch, number, piece);
    }

    /**
     * Returns the records of a piece that is divided into this number of equal parts, or none if one of the parts is
     * too large.
     */
    private List<Made> parts(EpochOrder epoch, long number, Piece piece, int index, int pieces, int parts)
            throws IOException {
        List<Made> made = new ArrayList<>(parts);
        for (int part = 0; part < parts; part++) {
            Made record = record(epoch, number, piece, index, pieces, part, parts);
            if (record == null) {
                return List.of();
            }
            made.add(record);
        }
        return made;
    }

    private StokerException tooLarge(EpochOrder epoch, long number, Piece piece) throws IOException {
        for (int row = 0; row < piece.rows(); row++) {
            Piece sample = cut(piece, row, piece.rows());
            try (BuiltPiece built = builder.build(key(epoch, number, sample))) {
                long size = bytes(built);
                if (size > maxBytes) {
                    return tooLarge(RecordValue.firstKey(message(built)), size, maxBytes);
                }
            }
        }
        throw new IllegalStateException("Every row of batch " + number + " fits into a record, but one did not");
    }

    /** Returns the failure for a sample that does not fit into a record. */
    static StokerException tooLarge(String key, long size, long limit) {
        return new StokerException("sample " + key + " takes " + size + " bytes in a record, the limit is " + limit
                + ": start the feed with --max-record-bytes " + size
                + " or more, and a topic whose max.message.bytes allows it");
    }

    private long size(EpochOrder epoch, long number, Piece piece) throws IOException {
        try (BuiltPiece built = builder.build(key(epoch, number, piece))) {
            return bytes(built);
        }
    }

    /** Returns the size of the record's value in bytes. */
    private long bytes(BuiltPiece built) {
        return built.bytes() - BatchHeader.BYTES + values.overheadBytes();
    }

    static Piece cut(Piece piece, int part, int parts) {
        long from = (long) part * piece.rows() / parts;
        long to = (part + 1L) * piece.rows() / parts;
        return new Piece(piece.lane(), piece.firstRow() + from, (int) (to - from));
    }

    static PieceKey key(EpochOrder epoch, long number, Piece piece) {
        DeliveredPiece alone = new DeliveredPiece(piece.lane(), piece.firstRow(), piece.rows(), false);
        return new PieceKey(epoch, new DeliveredBatch(number, number, List.of(alone)), 0, 0);
    }

    /** Returns the record, or null if it is too large. */
    private @Nullable Made record(
            EpochOrder epoch, long number, Piece piece, int index, int pieces, int part, int parts) throws IOException {
        PieceKey key = key(epoch, number, cut(piece, part, parts));
        for (int attempt = 1; ; attempt++) {
            try (BuiltPiece built = attempt == 1 ? builder.build(key) : builder.rebuild(key)) {
                if (bytes(built) > maxBytes) {
                    return null;
                }
                int length = Math.toIntExact(built.bytes() - BatchHeader.BYTES);
                byte[] value = values.around(message(built), length);
                int messageCrc = Crc32cs.of(value, values.messagePosition(), length);
                if (isRight(built, messageCrc, length)) {
                    RecordHeader header = new RecordHeader(
                            RecordKind.BATCH,
                            fingerprint,
                            version,
                            epoch.epoch(),
                            number,
                            piece.lane(),
                            index,
                            pieces,
                            part,
                            parts,
                            built.rows(),
                            built.skipped());
                    return new Made(header, TopicRecord.of(header, value, values.crc(messageCrc, length)));
                }
            }
            if (attempt == ATTEMPTS) {
                throw wrong(epoch, number, piece);
            }
        }
    }

    /** Returns whether the data that was read has the committed checksum. */
    static boolean isRight(BuiltPiece built, int messageCrc, int length) {
        ByteBuffer head = built.parts()[0]
                .slice(built.parts()[0].position(), BatchHeader.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        int covered =
                Crc32cs.of(head.slice(BatchHeader.COVERED_FROM, BatchHeader.COVERED_TO - BatchHeader.COVERED_FROM));
        return Crc32cs.combine(covered, messageCrc, length) == head.getInt(BatchHeader.CRC_AT);
    }

    static CorruptDataException wrong(EpochOrder epoch, long number, Piece piece) {
        return new CorruptDataException("epoch " + epoch.epoch() + " batch " + number + ", lane " + piece.lane()
                + ": the samples read differ from those that were committed, although each was read again and"
                + " verified: the memory of this machine may be failing");
    }

    /** Returns the message, without the header that precedes it on a socket. */
    static ByteBuffer[] message(BuiltPiece built) {
        ByteBuffer[] parts = built.parts().clone();
        ByteBuffer first = parts[0];
        parts[0] = first.slice(first.position() + BatchHeader.BYTES, first.remaining() - BatchHeader.BYTES);
        for (int i = 1; i < parts.length; i++) {
            parts[i] = parts[i].duplicate();
        }
        return parts;
    }

    @Override
    public void close() {
        builder.close();
    }
}

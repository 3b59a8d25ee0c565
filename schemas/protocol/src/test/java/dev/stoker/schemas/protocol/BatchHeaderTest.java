package dev.stoker.schemas.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.protocol.parts.PieceSource;
import dev.stoker.schemas.testing.Rounds;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class BatchHeaderTest {
    private static final BatchIdentity IDENTITY = new BatchIdentity(1, -1, 2, 3, 4, 5, 6, 7, 8, false);
    private static final PieceSource SOURCE = PieceSource.whole(7, 0);

    @Test
    void checksumOfPartsIsThatOfTheBytes(TestInfo test) {
        Rounds.of(test).seconds(0.2).atLeast(200).run((random, round) -> {
            byte[] message = new byte[random.nextInt(round % 10 == 0 ? 200_000 : 300)];
            random.nextBytes(message);
            BatchIdentity identity = new BatchIdentity(
                    random.nextLong(),
                    random.nextLong(),
                    random.nextInt() & 0xFFFF_FFFFL,
                    random.nextInt(65_535),
                    random.nextLong() >>> 1,
                    random.nextInt(10),
                    10 + random.nextInt(65_526),
                    random.nextInt() & 0xFFFF_FFFFL,
                    random.nextInt() & 0xFFFF_FFFFL,
                    random.nextBoolean());
            CRC32C alone = new CRC32C();
            alone.update(message);
            PieceSource source = new PieceSource(random.nextInt() & 0xFFFF_FFFFL, random.nextLong(), random.nextInt());
            BatchHeader header = BatchHeader.of(identity, source, 9, message.length, (int) alone.getValue());
            ByteBuffer frame = ByteBuffer.allocate(BatchHeader.BYTES + message.length);
            header.put(frame);
            assertThat(frame.position()).isEqualTo(80);
            assertThat(frame.order()).as("the buffer's order is left alone").isEqualTo(ByteOrder.BIG_ENDIAN);
            frame.put(message).order(ByteOrder.LITTLE_ENDIAN);
            CRC32C whole = new CRC32C();
            whole.update(frame.array(), 4, 64);
            whole.update(message);
            assertThat(header.crc()).isEqualTo((int) whole.getValue());
            assertThat(frame.getInt(76)).isEqualTo(header.crc());
            assertThat(frame.getInt(0)).isEqualTo(76 + message.length);
            assertThat(header.crcWith(ByteBuffer.wrap(message))).isEqualTo(header.crc());
        });
    }

    /** Flips every bit of a BATCH frame outside length and subscription. The decoder or the checksum must detect it. */
    @Test
    void noBitFlipsUnnoticed() throws Exception {
        byte[] frame = ProtocolVectors.golden("repeated piece").bytes();
        for (int bit = 32; bit < frame.length * 8; bit++) {
            byte[] flipped = frame.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            boolean subscription = bit / 8 >= 68 && bit / 8 < 72;
            boolean intact;
            try {
                Frame found = ProtocolVectors.welcomedClient()
                        .next(ByteBuffer.wrap(flipped))
                        .orElse(null);
                intact = found instanceof Batch batch && batch.isIntact();
            } catch (ProtocolException refused) {
                intact = false;
            }
            assertThat(intact).as("byte %d bit %d", bit / 8, bit % 8).isEqualTo(subscription);
        }
    }

    @Test
    void refusesMessagesOfTwoGibibytes() {
        assertThatThrownBy(() -> new BatchHeader(IDENTITY, SOURCE, 1, Integer.MAX_VALUE - 75, 0))
                .hasMessageContaining("choose a smaller batch size");
        assertThat(new BatchHeader(IDENTITY, SOURCE, 1, BatchHeader.MAX_MESSAGE, 0).messageBytes())
                .isEqualTo(Integer.MAX_VALUE - 76);
    }

    @Test
    void refusesAPieceBeyondItsBatch() {
        assertThatThrownBy(() -> new BatchIdentity(1, 2, 0, 0, 0, 3, 3, 1, 0, false))
                .hasMessage("piece 3 of 3");
    }
}

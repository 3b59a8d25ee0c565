package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Samples read from a chunk equal the written samples, for all types of fields. */
class ChunkRoundTripTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 64, 100})
    void summaryTellsTheBytesThatWereWritten(int rows, TestInfo test) {
        Rounds.of(test).seconds(0.1).run((random, round) -> summaryTellsTheBytesThatWereWritten(rows, random));
    }

    private static void summaryTellsTheBytesThatWereWritten(int rows, Random random) throws IOException {
        for (List<Field> fields : List.of(ChunkFixtures.ALL_TYPES, ChunkFixtures.IMAGES, List.<Field>of())) {
            ChunkBuilder builder = ChunkFixtures.random(fields, rows, 0, random);
            long bound = builder.length();
            PackedChunk packed = builder.finish(ChunkFixtures.identity(0));
            ByteBuffer file = ChunkFixtures.bytes(packed);
            ChunkSummary summary = packed.summary();
            assertThat(summary.length()).isEqualTo(file.remaining()).isLessThanOrEqualTo(bound);
            assertThat(bound - summary.length()).isLessThan(2048 + (160L + 8L * rows) * fields.size());
            assertThat(summary.crc32c()).isEqualTo(Crc32cs.of(file));
            assertThat(summary.headCrc32c()).isEqualTo(Crc32cs.of(file.slice(0, (int) summary.headLength())));
            assertThat(summary.rows()).isEqualTo(rows);

            RangeReader reader = new BufferRangeReader("c", file);
            assertThat(ChunkReader.verify(reader)).isEqualTo(summary);
            ChunkHead head = ChunkReader.readHead(reader, summary);
            assertThat(head.identity()).isEqualTo(ChunkFixtures.identity(0));
            assertThat(head.fields()).isEqualTo(fields);
            assertThat(head.rows()).isEqualTo(rows);
            for (int row = 0; row < rows; row++) {
                assertThat(head.key(row)).startsWith("k0-" + row);
                ChunkReader.verifySample(head, reader, row);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 9, 50})
    void payloadLiesWhereTheHeadSays(int rows, TestInfo test) {
        Rounds.of(test).seconds(0.1).run((random, round) -> payloadLiesWhereTheHeadSays(rows, random));
    }

    private static void payloadLiesWhereTheHeadSays(int rows, Random random) throws IOException {
        List<Field> fields = ChunkFixtures.ALL_TYPES;
        ByteBuffer file = ChunkFixtures.bytes(
                ChunkFixtures.random(fields, rows, 0, random).finish(ChunkFixtures.identity(0)));
        ChunkHead head = ChunkReader.open(new BufferRangeReader("c", file));
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload()) {
                ArrowColumn column = head.column(f);
                assertThat(column.valuesPosition() % 64).isZero();
                for (int row = 0; row < rows; row++) {
                    int crc = Crc32cs.of(file.slice(head.payloadPosition(f, row), head.payloadLength(f, row)));
                    assertThat(crc).isEqualTo(head.payloadCrc32c(f, row));
                }
            }
        }
    }
}

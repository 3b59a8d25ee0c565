package dev.stoker.export.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.ExpectedChunk;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamChunksBuilder;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class CursorsTest {
    /** A sample. */
    private record Sample(int chunk, int row) {}

    private static StreamChunks chunks(Random random) {
        StreamChunksBuilder builder = StreamChunks.builder(8);
        int count = random.nextInt(9);
        for (int ordinal = 0; ordinal < count; ordinal++) {
            int rows = 1 + random.nextInt(20);
            if (random.nextInt(4) == 0) {
                builder.addGhost(ordinal, rows);
                continue;
            }
            int[] removed = IntStream.range(0, rows - 1)
                    .filter(row -> random.nextInt(3) == 0)
                    .toArray();
            builder.addLive(
                    ordinal, new UUID(1, ordinal), rows, removed, new ExpectedChunk(1000 + rows, 0, 500, 0, 10));
        }
        return builder.build();
    }

    private static List<Sample> all(ExportCursor cursor) {
        List<Sample> samples = new ArrayList<>();
        while (cursor.next()) {
            samples.add(new Sample(cursor.chunk(), cursor.row()));
        }
        return samples;
    }

    private static void assertSuffixes(LongFunction<ExportCursor> cursors, List<Sample> model) {
        for (int first = 0; first <= model.size(); first++) {
            assertThat(all(cursors.apply(first))).as("from %s", first).isEqualTo(model.subList(first, model.size()));
        }
    }

    @Test
    void storedRowsFollowTheChunksFromAnyPosition(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(30).run((random, round) -> {
            StreamChunks chunks = chunks(random);
            List<Sample> model = new ArrayList<>();
            for (int chunk = 0; chunk < chunks.size(); chunk++) {
                for (int row = 0; row < chunks.rows(chunk); row++) {
                    int at = row;
                    if (chunks.isLive(chunk)
                            && IntStream.of(chunks.removedRows(chunk)).noneMatch(removed -> removed == at)) {
                        model.add(new Sample(chunk, row));
                    }
                }
            }
            assertThat(model).hasSize((int) chunks.liveRows());
            assertSuffixes(first -> new StoredCursor(chunks, first), model);
        });
    }

    @Test
    void rowsOfAnEpochFollowItsBatchesFromAnyPosition(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(30).run((random, round) -> {
            StreamChunks chunks = chunks(random);
            OrderSpec spec = new OrderSpec(
                    random.nextInt(5),
                    1 + random.nextInt(7),
                    1 + random.nextInt(4),
                    random.nextInt(5000),
                    random.nextInt(4) == 0 ? ShufflePolicy.NONE : ShufflePolicy.WINDOW,
                    LaneOrder.MIXED);
            EpochOrder epoch = new StreamOrder(chunks, spec).epoch(random.nextInt(3));
            List<Sample> model = new ArrayList<>();
            for (long batch = 0; batch < epoch.numbering().size().batches(); batch++) {
                for (Piece piece : epoch.batch(batch)) {
                    for (long row = piece.firstRow(); row < piece.firstRow() + piece.rows(); row++) {
                        Window window = epoch.lane(piece.lane())
                                .window(epoch.lane(piece.lane()).windowOfRow(row));
                        int at = (int) (row - window.firstRow());
                        model.add(new Sample(window.chunkAt(at), window.rowAt(at)));
                    }
                }
            }
            assertThat(model).hasSize((int) chunks.liveRows()).doesNotHaveDuplicates();
            assertSuffixes(first -> new EpochCursor(epoch, first), model);
        });
    }
}

package dev.stoker.formats.parquet.write;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.Batches;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.Rows;
import dev.stoker.formats.parquet.ParquetFormat;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class PayloadOutputTest {
    private static final int PAGE = 1 << 20;
    private static final int TIMES = 3;

    /** Values around the size of a page, and runs of nulls and of short values. */
    private static List<byte[]> values(Random random, boolean nullable) {
        List<byte[]> values = new ArrayList<>();
        for (int length : new int[] {0, 100_000, PAGE - 4, PAGE - 3, 2 * PAGE, 5, PAGE - 14, 1}) {
            values.add(bytes(random, length));
        }
        for (int i = 0; i < 400; i++) {
            boolean isNull = nullable && random.nextInt(3) > 0;
            values.add(isNull ? null : bytes(random, random.nextInt(9000)));
        }
        return values;
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] write(OutputTable table, RowBatch rows, long groupBytes) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RowOutput output = new ParquetOutput(out, table, ParquetLayout.STOKER, groupBytes)) {
            for (int i = 0; i < TIMES; i++) {
                output.write(rows);
            }
            output.finish();
        }
        return out.toByteArray();
    }

    private static void requireSame(List<byte[]> values, boolean nullable, boolean alone, long groupBytes)
            throws Exception {
        List<Field> fields = List.of(new Field("image", ScalarType.BINARY, nullable, true));
        List<List<Object>> samples = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            samples.add(Arrays.asList("k" + i, values.get(i)));
        }
        Batches.Made made = Batches.of(fields, samples);
        OutputTable table = made.table();
        RowBatch rows = made.rows();
        if (alone) {
            table = new OutputTable(table.columns().subList(1, 2), -1, "zstd");
            rows = new RowBatch(rows.rows(), rows.columns().subList(1, 2), rows.message());
        }
        List<String> expected = new ArrayList<>();
        for (int time = 0; time < TIMES; time++) {
            for (int i = 0; i < values.size(); i++) {
                byte[] value = values.get(i);
                String text =
                        value == null ? "null" : "{\"hex\":\"" + HexFormat.of().formatHex(value) + "\"}";
                expected.add(alone ? "[" + text + "]" : "[\"k" + i + "\"," + text + "]");
            }
        }
        try (RowFile file =
                new ParquetFormat().open(Rows.file("a.parquet", write(table, rows, groupBytes)), ReadLimits.DEFAULT)) {
            List<String> found = Rows.read(file);
            assertThat(found.equals(expected)).isTrue();
        }
    }

    @Test
    void valuesOfAnyLengthSurvive(TestInfo test) {
        Rounds.of(test).run((random, round) -> {
            requireSame(values(random, false), false, false, ParquetOutput.GROUP_BYTES);
            requireSame(values(random, true), true, false, 3 * PAGE);
        });
    }

    @Test
    void aFileCanHavePayloadAlone(TestInfo test) throws Exception {
        Rounds.of(test).run((random, round) -> requireSame(values(random, true), true, true, PAGE));
        requireSame(Arrays.asList(null, null), true, true, PAGE);
    }
}

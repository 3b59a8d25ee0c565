package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BlockReader;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.ReadRows;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.FixedValues;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.chunk.RowBlock;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares chunks that are packed from blocks with chunks that are packed row by row. */
class BlockReaderTest {
    private static final List<String> TYPES = List.of(
            "int32",
            "int64",
            "float",
            "double",
            "int32 %s (INTEGER(8,true))",
            "int32 %s (INTEGER(16,false))",
            "int32 %s (INTEGER(32,false))",
            "int64 %s (INTEGER(64,false))",
            "int32 %s (DATE)",
            "int64 %s (TIMESTAMP(MICROS,true))");

    private final ParquetFormat format = new ParquetFormat();

    @Test
    void blocksPackTheChunksThatRowsPack(TestInfo test) {
        Rounds.of(test)
                .seconds(0.5)
                .atLeast(10)
                .run((random, round) -> assertThat(compared(randomFile(random), random))
                        .as("columns")
                        .isPositive());
    }

    /** Files of pyarrow, pandas and DuckDB, with all codecs, page versions and encodings. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "scalars-none",
                "scalars-snappy",
                "scalars-gzip",
                "scalars-zstd",
                "scalars-lz4",
                "scalars-v2",
                "scalars-plain",
                "encodings-dictionary",
                "encodings-delta",
                "encodings-delta2",
                "required",
                "wide",
                "pandas",
                "duckdb"
            })
    void blocksOfFilesOfOthersPackTheChunksThatRowsPack(String file) throws Exception {
        assertThat(compared(ReadRows.resource("parquet/" + file + ".parquet"), new Random(1)))
                .isPositive();
    }

    @Test
    void columnsOfOtherTypesAreNotReadInBlocks() throws Exception {
        byte[] file = MemoryOutput.write(
                "message m { required int32 a; required binary b (STRING); required int32 c (DECIMAL(5,2)); "
                        + "repeated int32 d; required boolean e; }",
                UnaryOperator.identity(),
                (factory, out) -> out.add(factory.newGroup()
                        .append("a", 1)
                        .append("b", "x")
                        .append("c", 2)
                        .append("d", 3)
                        .append("e", true)));
        try (RowFile open = open(file)) {
            assertThat(readable(open)).containsExactly(0);
        }
    }

    @Test
    void aValueThatTheTypeCannotHoldEndsTheBlocks() throws Exception {
        byte[] file = MemoryOutput.write(
                "message m { required int32 a (INTEGER(8,true)); }", UnaryOperator.identity(), (factory, out) -> {
                    for (int i = 0; i < 10_000; i++) {
                        out.add(factory.newGroup().append("a", i == 9000 ? 128 : 127));
                    }
                });
        try (RowFile open = open(file);
                BlockReader blocks =
                        open.readBlocks(open.parts().get(0), new int[] {0}).orElseThrow()) {
            assertThat(blocks.next()).isEqualTo(8192);
            assertThatThrownBy(blocks::next).isInstanceOf(BadValueException.class);
        }
    }

    @Test
    void theFieldsOfANullStructAreNull() throws Exception {
        byte[] file = MemoryOutput.write(
                "message m { optional group s { required int32 a; optional int32 b; } }",
                UnaryOperator.identity(),
                (factory, out) -> {
                    Group full = factory.newGroup();
                    full.addGroup("s").append("a", 1);
                    out.add(full);
                    out.add(factory.newGroup());
                });
        try (RowFile open = open(file);
                BlockReader blocks =
                        open.readBlocks(open.parts().get(0), new int[] {0, 1}).orElseThrow()) {
            assertThat(open.schema().columns()).allMatch(RowColumn::nullable);
            assertThat(blocks.next()).isEqualTo(2);
            assertThat(blocks.values(0).hasNull(0, 1)).isFalse();
            assertThat(blocks.values(0).hasNull(1, 2)).isTrue();
            assertThat(blocks.values(1).hasNull(0, 1)).isTrue();
            assertThat(blocks.values(1).hasNull(1, 2)).isTrue();
        }
    }

    /** Flips each byte: blocks and rows find the same damage, or none. */
    @Test
    void damageOfAnyByteIsFoundAsByRows(TestInfo test) {
        Rounds.of(test).run((random, round) -> damageIsFoundAsByRows(random));
    }

    private void damageIsFoundAsByRows(Random random) throws Exception {
        byte[] file = MemoryOutput.write(
                "message m { optional int32 a; required double b; }",
                builder -> builder.withPageSize(200).withPageWriteChecksumEnabled(false),
                (factory, out) -> {
                    for (int i = 0; i < 120; i++) {
                        Group row = factory.newGroup().append("b", i / 3.0);
                        out.add(i % 7 == 0 ? row : row.append("a", i % 9));
                    }
                });
        for (int at = 4; at < file.length - 8; at++) {
            byte[] damaged = file.clone();
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            List<ByteBuffer> byRows;
            try (RowFile open = open(damaged)) {
                if (open.schema().columns().size() != 2 || !isReadable(open, 0) || !isReadable(open, 1)) {
                    continue;
                }
                byRows = chunksByRow(open, new int[] {0, 1});
            } catch (DamagedFileException | BadValueException | UnsupportedFileException e) {
                try (RowFile open = open(damaged)) {
                    assertThatThrownBy(() -> chunksByBlock(open, new int[] {0, 1}, random))
                            .as("byte " + at)
                            .isInstanceOf(e.getClass());
                } catch (DamagedFileException | UnsupportedFileException inFooter) {
                    // The file cannot be opened.
                }
                continue;
            }
            try (RowFile open = open(damaged)) {
                assertThat(chunksByBlock(open, new int[] {0, 1}, random))
                        .as("byte " + at)
                        .isEqualTo(byRows);
            }
        }
    }

    private RowFile open(byte[] file) throws Exception {
        return format.open(new BufferRangeReader("file", ByteBuffer.wrap(file)), ReadLimits.DEFAULT);
    }

    private static boolean isReadable(RowFile file, int column) throws IOException {
        try {
            return file.readBlocks(file.parts().get(0), new int[] {column}).isPresent();
        } catch (DamagedFileException e) {
            return true;
        }
    }

    /** Compares the chunks of a file's columns of numbers, and returns how many columns there are. */
    private int compared(byte[] file, Random random) throws Exception {
        try (RowFile open = open(file)) {
            int[] columns = readable(open);
            assertThat(chunksByBlock(open, columns, random)).isEqualTo(chunksByRow(open, columns));
            return columns.length;
        }
    }

    private static int[] readable(RowFile file) throws IOException {
        List<Integer> columns = new ArrayList<>();
        for (int column = 0;
                column < file.schema().columns().size() && !file.parts().isEmpty();
                column++) {
            if (isReadable(file, column)) {
                columns.add(column);
            }
        }
        return columns.stream().mapToInt(Integer::intValue).toArray();
    }

    private static List<Field> fields(RowFile file, int[] columns) {
        return IntStream.range(0, columns.length)
                .mapToObj(i -> new Field(
                        "f" + i,
                        file.schema().columns().get(columns[i]).type(),
                        file.schema().columns().get(columns[i]).nullable(),
                        false))
                .toList();
    }

    /** Returns a chunk for each part. */
    private static List<ByteBuffer> chunksByRow(RowFile file, int[] columns) throws Exception {
        List<ByteBuffer> chunks = new ArrayList<>();
        for (RowPart part : file.parts()) {
            ChunkBuilder builder = new ChunkBuilder(fields(file, columns), 1 << 16);
            try (RowReader rows = file.read(part, columns)) {
                while (rows.next()) {
                    builder.beginRow("#" + rows.position());
                    for (int c = 0; c < columns.length; c++) {
                        rows.get(c, new Setter(builder, c));
                    }
                    builder.endRow();
                }
            }
            add(builder, chunks);
        }
        return chunks;
    }

    private static List<ByteBuffer> chunksByBlock(RowFile file, int[] columns, Random random) throws Exception {
        List<ByteBuffer> chunks = new ArrayList<>();
        for (RowPart part : file.parts()) {
            ChunkBuilder builder = new ChunkBuilder(fields(file, columns), 1 << 16);
            try (BlockReader blocks = file.readBlocks(part, columns).orElseThrow()) {
                for (int rows = blocks.next(); rows > 0; rows = blocks.next()) {
                    RowBlock block = block(blocks, columns.length, rows);
                    for (int from = 0; from < rows; ) {
                        int count = 1 + random.nextInt(rows - from);
                        builder.addRows(block, from, count);
                        from += count;
                    }
                }
            }
            add(builder, chunks);
        }
        return chunks;
    }

    private static RowBlock block(BlockReader blocks, int columns, int rows) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        int[] ends = new int[rows];
        for (int row = 0; row < rows; row++) {
            keys.writeBytes(("#" + (blocks.position() + row)).getBytes(StandardCharsets.UTF_8));
            ends[row] = keys.size();
        }
        return new RowBlock(
                keys.toByteArray(),
                ends,
                IntStream.range(0, columns).mapToObj(blocks::values).toArray(FixedValues[]::new));
    }

    private static void add(ChunkBuilder builder, List<ByteBuffer> chunks) {
        if (builder.rows() > 0) {
            PackedChunk chunk = builder.finish(new ChunkIdentity(
                    new UUID(0, 1),
                    new UUID(0x0193_0000_0000_7000L, 0x8000_0000_0000_0000L),
                    "ingest",
                    "train",
                    Instant.EPOCH));
            ByteBuffer file = ByteBuffer.allocate((int) chunk.summary().length());
            chunk.buffers().forEach(file::put);
            chunks.add(file.flip());
        }
    }

    private static byte[] randomFile(Random random) throws Exception {
        int columns = 1 + random.nextInt(6);
        boolean[] optional = new boolean[columns];
        String[] types = new String[columns];
        StringBuilder schema = new StringBuilder("message m {");
        for (int c = 0; c < columns; c++) {
            optional[c] = random.nextInt(3) > 0;
            types[c] = TYPES.get(random.nextInt(TYPES.size()));
            String text = types[c].contains("%s") ? types[c].replace("%s", "c" + c) : types[c] + " c" + c;
            schema.append(optional[c] ? " optional " : " required ")
                    .append(text)
                    .append(";");
        }
        boolean isDictionary = random.nextBoolean();
        int distinct = 1 << random.nextInt(16);
        int nullEach = 1 + random.nextInt(30);
        int rows = 1 + random.nextInt(30_000);
        UnaryOperator<ExampleParquetWriter.Builder> options = builder -> builder.withWriterVersion(
                        random.nextBoolean() ? WriterVersion.PARQUET_1_0 : WriterVersion.PARQUET_2_0)
                .withDictionaryEncoding(isDictionary)
                .withByteStreamSplitEncoding(random.nextBoolean())
                .withRowGroupRowCountLimit(1 + random.nextInt(20_000))
                .withPageSize(100 + random.nextInt(100_000))
                .withPageWriteChecksumEnabled(random.nextBoolean());
        return MemoryOutput.write(schema.append(" }").toString(), options, (factory, out) -> {
            for (int row = 0; row < rows; row++) {
                Group group = factory.newGroup();
                for (int c = 0; c < columns; c++) {
                    // Nulls in runs, alone, and in the first half only.
                    boolean isNull = optional[c]
                            && (c % 3 == 0
                                    ? row / 300 % nullEach == 0
                                    : c % 3 == 1 ? row % nullEach == 0 : row < rows / 2);
                    if (!isNull) {
                        append(group, "c" + c, types[c], random, distinct);
                    }
                }
                out.add(group);
            }
        });
    }

    private static void append(Group group, String name, String type, Random random, int distinct) {
        int value = random.nextInt(distinct);
        if (type.equals("float")) {
            group.append(name, value == 0 ? Float.intBitsToFloat(0x7F800001 + random.nextInt(9)) : value / 3.0f);
        } else if (type.equals("double")) {
            group.append(name, value == 0 ? Double.longBitsToDouble(0x7FF0000000000001L) : value / 3.0);
        } else if (type.startsWith("int64")) {
            group.append(name, value * 0x123456789ABL);
        } else {
            int bits = type.contains("(8,") ? 7 : type.contains("(16,") ? 16 : 31;
            group.append(name, (int) (value * 77L & (1L << bits) - 1));
        }
    }

    /** Sets a field of the open row. */
    private record Setter(ChunkBuilder builder, int field) implements ValueSink {
        @Override
        public void setNull() {
            builder.setNull(field);
        }

        @Override
        public void setLong(long value) throws BadValueException {
            try {
                builder.setLong(field, value);
            } catch (IllegalArgumentException e) {
                throw new BadValueException(e.getMessage());
            }
        }

        @Override
        public void setDouble(double value) {
            builder.setDouble(field, value);
        }

        @Override
        public void setDecimal(BigDecimal value) {
            throw new IllegalStateException(ScalarType.FLOAT64 + " or a whole number was expected");
        }

        @Override
        public void setBytes(ByteBuffer bytes) {
            throw new IllegalStateException("a number was expected");
        }

        @Override
        public void setBytesList(List<ByteBuffer> items) {
            throw new IllegalStateException("a number was expected");
        }

        @Override
        public void setLists(ByteBuffer items, int[] lengths) {
            throw new IllegalStateException("a number was expected");
        }
    }
}

package dev.stoker.schemas.index;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** Runs of the sample index in memory, for tests. */
public final class RunFixtures {

    public static final UUID DATASET = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");

    public static final RunIdentity IDENTITY = new RunIdentity(DATASET, 2, 5, 0x1234abcd);

    /** A row with its key. */
    public record Row(byte[] key, IndexedRow place) {

        public static Row of(String key, int ordinal, int row, int length, int crc32c) {
            return new Row(key.getBytes(StandardCharsets.UTF_8), new IndexedRow(ordinal, row, length, crc32c));
        }
    }

    private RunFixtures() {}

    /** Returns the file of a run with these rows, which are sorted first. */
    public static byte[] run(List<Row> rows) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        RunWriter writer = new RunWriter(IDENTITY, part -> bytes.write(toArray(part)), new HashesInMemory());
        List<Row> sorted = rows.stream()
                .sorted((a, b) -> {
                    int order = Arrays.compareUnsigned(a.key(), b.key());
                    return order != 0
                            ? order
                            : Integer.compare(b.place().ordinal(), a.place().ordinal());
                })
                .toList();
        for (Row row : sorted) {
            writer.add(row.key(), 0, row.key().length, row.place());
        }
        writer.finish();
        return bytes.toByteArray();
    }

    private static byte[] toArray(ByteBuffer part) {
        byte[] bytes = new byte[part.remaining()];
        part.get(bytes);
        return bytes;
    }

    /** Opens a run that is in memory. */
    public static SampleRun open(byte[] file) throws IOException {
        return SampleRun.open(source(file));
    }

    static RunSource source(byte[] file) {
        return new RunSource() {
            @Override
            public String name() {
                return "/d/run.arrow";
            }

            @Override
            public long length() {
                return file.length;
            }

            @Override
            public ByteBuffer read(long position, int length) {
                return ByteBuffer.wrap(file).slice((int) position, length);
            }

            @Override
            public boolean takesMemory() {
                return false;
            }
        };
    }
}

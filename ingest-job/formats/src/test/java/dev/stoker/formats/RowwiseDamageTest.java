package dev.stoker.formats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.formats.detection.Formats;
import dev.stoker.formats.mds.MdsFormat;
import dev.stoker.formats.mds.MdsIndex;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files with flipped bytes and truncated files: only the errors of the interface may come out. */
class RowwiseDamageTest {
    private static final ReadLimits LIMITS = new ReadLimits(1 << 22, 1 << 22, 32, 1000);
    private static final int MAX_POSITIONS = 4000;
    private static final int RANDOM_RUNS = 2000;

    /** Opens a file. */
    private interface Opening {
        RowFile open(RangeReader file, ReadLimits limits) throws IOException;
    }

    /** What reading a file gives: its rows, or null after one of the expected errors. */
    private static List<String> read(Opening opening, String name, byte[] bytes) {
        try (RowFile file = opening.open(Rows.file(name, bytes), LIMITS)) {
            return Rows.read(file);
        } catch (DamagedFileException | UnsupportedFileException e) {
            assertThat(e.getMessage()).contains(name);
            return null;
        } catch (IOException e) {
            throw new AssertionError("another error", e);
        }
    }

    /** Positions in a file: all of them, or every n-th if there are many. */
    private static int step(int length) {
        return Math.max(1, length / MAX_POSITIONS);
    }

    @ParameterizedTest
    @CsvSource({
        "jsonl,frame.jsonl",
        "jsonl,frame.jsonl.gz",
        "jsonl,frame.jsonl.zst",
        "csv,table.csv",
        "csv,table.csv.gz",
        "webdataset,shard.tar",
        "webdataset,gnu.tar",
        "webdataset,shard.tar.gz",
        "webdataset,shard.tar.zst",
        "tfrecord,plain.tfrecord",
        "tfrecord,packed.tfrecord.gz",
        "mds,mds/shard.00000.mds",
        "mds,mds-zstd/shard.00000.mds.zstd",
        "mds,mds-gz/shard.00000.mds.gz",
        "mds,mds-snappy/shard.00000.mds.snappy"
    })
    void flippedBytesEndInKnownErrors(String formatName, String name, TestInfo test) throws Exception {
        RowFormat format = Formats.named(formatName);
        byte[] bytes = Rows.bytes(name);
        Rounds.of(test).run((random, round) -> {
            for (int i = 0; i < bytes.length; i += step(bytes.length)) {
                byte[] damaged = bytes.clone();
                damaged[i] ^= (byte) (1 + random.nextInt(255));
                try {
                    read(format::open, name, damaged);
                    Formats.detect(Rows.file(name, damaged));
                } catch (Throwable e) {
                    throw new AssertionError("byte " + i, e);
                }
            }
        });
    }

    @ParameterizedTest
    @CsvSource({
        "jsonl,frame.jsonl.gz",
        "jsonl,frame.jsonl.zst",
        "csv,table.csv.gz",
        "webdataset,shard.tar",
        "webdataset,shard.tar.gz",
        "webdataset,shard.tar.zst",
        "tfrecord,packed.tfrecord.gz",
        "mds,mds/shard.00000.mds",
        "mds,mds-zstd/shard.00000.mds.zstd",
        "mds,mds-gz/shard.00000.mds.gz",
        "mds,mds-snappy/shard.00000.mds.snappy"
    })
    void truncatedFilesAreRefused(String formatName, String name) throws Exception {
        RowFormat format = Formats.named(formatName);
        byte[] bytes = Rows.bytes(name);
        List<String> whole = read(format::open, name, bytes);
        // With fewer bytes, a compressed file is not known as one.
        for (int length = 4; length < bytes.length; length += step(bytes.length)) {
            List<String> rows;
            try {
                rows = read(format::open, name, Arrays.copyOf(bytes, length));
            } catch (Throwable e) {
                throw new AssertionError("length " + length, e);
            }
            // Padding at the end of a tar archive may be missing.
            assertThat(rows)
                    .as("length %d", length)
                    .satisfiesAnyOf(
                            r -> assertThat(r).isNull(), r -> assertThat(r).isEqualTo(whole));
        }
    }

    @ParameterizedTest
    @CsvSource({"jsonl,frame.jsonl", "csv,table.csv", "tfrecord,plain.tfrecord"})
    void truncatedFilesWithoutAnEndGiveOnlyWholeRowsOrKnownErrors(String formatName, String name) throws Exception {
        RowFormat format = Formats.named(formatName);
        byte[] bytes = Rows.bytes(name);
        for (int length = 0; length < bytes.length; length++) {
            try {
                read(format::open, name, Arrays.copyOf(bytes, length));
            } catch (Throwable e) {
                throw new AssertionError("length " + length, e);
            }
        }
    }

    @Test
    void randomDamageEndsInKnownErrorsInWhateverFormatAFileIsOpened(TestInfo test) {
        List<String> names = List.of(
                "frame.jsonl",
                "table.csv",
                "gnu.tar",
                "plain.tfrecord",
                "mds/shard.00000.mds",
                "mds-snappy/shard.00000.mds.snappy");
        List<String> formats = List.of("jsonl", "csv", "webdataset", "tfrecord", "mds");
        Rounds.of(test).seconds(1).atLeast(RANDOM_RUNS).run((random, round) -> {
            String name = names.get(random.nextInt(names.size()));
            byte[] bytes = Rows.bytes(name);
            for (int i = random.nextInt(6); i >= 0; i--) {
                int at = random.nextInt(bytes.length);
                bytes[random.nextBoolean() ? at : at % 64] = (byte) (random.nextBoolean() ? random.nextInt() : -i);
                if (random.nextInt(4) == 0) {
                    int length = Math.min(random.nextInt(100), bytes.length - at);
                    System.arraycopy(bytes, random.nextInt(bytes.length - length + 1), bytes, at, length);
                }
            }
            RowFormat format = Formats.named(formats.get(random.nextInt(formats.size())));
            try {
                read(format::open, name, bytes);
            } catch (Throwable e) {
                throw new AssertionError(name + " as " + format.name(), e);
            }
        });
    }

    @Test
    void flippedBytesOfTfRecordsAreAlwaysFound() throws Exception {
        byte[] bytes = Rows.bytes("plain.tfrecord");
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit >> 3] ^= (byte) (1 << (bit & 7));
            assertThat(read(Formats.named("tfrecord")::open, "plain.tfrecord", damaged))
                    .as("bit %d", bit)
                    .isNull();
        }
    }

    @Test
    void flippedBytesOfShardsInAnIndexAreAlwaysFound() throws Exception {
        MdsIndex.Shard shard = MdsIndex.parse("index.json", Rows.bytes("mds/index.json"))
                .shards()
                .get(0);
        byte[] bytes = Rows.bytes("mds/shard.00000.mds");
        for (int i = 0; i < bytes.length; i++) {
            byte[] damaged = bytes.clone();
            damaged[i] ^= 4;
            Opening open = (file, limits) -> new MdsFormat().open(file, limits, shard);
            assertThat(read(open, "shard.00000.mds", damaged)).as("byte %d", i).isNull();
        }
    }
}

package dev.stoker.schemas.index;

import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.BatchedFooter;
import dev.stoker.schemas.arrow.RecordBatchLayout;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.crc.SelfChecksum;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.CanonicalUuid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Contains the verified end of a run: where its parts are, and their checksums. Immutable.
 *
 * @param identity the run's identity
 * @param rows number of rows
 * @param keys number of different keys
 * @param batches positions of the batches
 * @param linesAt position of line 0 of the hash table
 * @param lines number of lines after line 0
 * @param checksums checksums of the opening, of each batch and of each block of lines
 */
record RunFooter(
        RunIdentity identity,
        long rows,
        long keys,
        List<ArrowFooter.Block> batches,
        long linesAt,
        long lines,
        ByteBuffer checksums) {

    private static final String KIND = "a run of the sample index";
    private static final byte[] MAGIC = "ARROW1\0\0".getBytes(StandardCharsets.US_ASCII);
    private static final String NUMBER = "0|[1-9][0-9]{0,17}";

    /** Reads the end of a file, and verifies it and the file's opening. */
    static RunFooter read(RunSource file) throws IOException {
        String name = file.name();
        long length = file.length();
        ByteBuffer tail;
        try {
            tail = tail(file, length);
        } catch (CorruptDataException e) {
            if (length >= MAGIC.length && !file.read(0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
                throw new ForeignFileException(name, KIND, "it does not begin and end like one");
            }
            throw e;
        }
        BatchedFooter footer = BatchedFooter.read(tail, name);
        Map<String, String> schema = footer.schema().metadata();
        checkFormat(schema, footer.schema(), name);
        try {
            RunFooter read = read(file, footer, length - tail.limit());
            ByteBuffer opening = file.read(0, (int) read.batches.get(0).position());
            read.check(0, opening, "opening", name);
            return read;
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new CorruptDataException(name + " is corrupt: " + e.getMessage(), e);
        }
    }

    private static ByteBuffer tail(RunSource file, long length) throws IOException {
        String name = file.name();
        if (length < ArrowFooter.ENDING) {
            throw CorruptDataException.mismatch(name, "length", "at least " + ArrowFooter.ENDING, length);
        }
        ByteBuffer ending = file.read(length - ArrowFooter.ENDING, ArrowFooter.ENDING);
        int tailLength = BatchedFooter.lengthOf(ending, length, name);
        ByteBuffer tail = file.read(length - tailLength, tailLength);
        byte[] content = new byte[tailLength];
        tail.get(0, content);
        SelfChecksum.verify(content, name, KIND, new byte[0]);
        return ByteBuffer.wrap(content);
    }

    private static void checkFormat(Map<String, String> metadata, ArrowSchema schema, String name)
            throws StokerException {
        String format = metadata.getOrDefault(RunFormat.FORMAT_KEY, "");
        if (!format.equals(Integer.toString(RunFormat.FORMAT))) {
            if (format.matches("[1-9][0-9]{0,8}")) {
                throw new FormatTooNewException(name, format, RunFormat.FORMAT);
            }
            throw CorruptDataException.mismatch(name, RunFormat.FORMAT_KEY, RunFormat.FORMAT, "'" + format + "'");
        }
        if (!schema.fields().equals(RunFormat.FIELDS)) {
            throw CorruptDataException.mismatch(name, "its columns", RunFormat.FIELDS, schema.fields());
        }
    }

    /** @param end where the footer begins */
    private static RunFooter read(RunSource file, BatchedFooter footer, long end) throws IOException {
        Map<String, String> schema = footer.schema().metadata();
        RunIdentity identity = new RunIdentity(
                CanonicalUuid.parse(text(schema, RunFormat.DATASET_KEY)),
                number(schema, RunFormat.FIRST_KEY),
                number(schema, RunFormat.LAST_KEY),
                hex(schema, RunFormat.CHUNKS_KEY));
        Map<String, String> metadata = footer.metadata();
        long rows = number(metadata, RunFormat.ROWS_KEY);
        long keys = number(metadata, RunFormat.KEYS_KEY);
        long lines = number(metadata, RunFormat.LINES_KEY);
        require(rows >= 1 && rows <= RunFormat.MAX_ROWS, "rows", rows);
        require(keys >= 1 && keys <= rows, "keys", keys);
        require(lines >= RunFormat.buckets(keys) && lines <= rows + RunFormat.buckets(keys), "lines", lines);
        long linesAt = batchesEnd(footer.batches(), rows);
        int sums = Math.toIntExact(1 + footer.batches().size() + RunFormat.lineBlocks(lines));
        long sumsAt = linesAt + RunFormat.LINE_BYTES * (lines + 1);
        int sumsLength = Math.toIntExact(RecordBatchLayout.align(4L * sums));
        require(sumsAt + sumsLength == end, "begin of the footer", end);
        ByteBuffer checksums = file.read(sumsAt, sumsLength).duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int found = Crc32cs.of(checksums);
        int expected = hex(metadata, RunFormat.CHECKSUMS_KEY);
        if (found != expected) {
            throw CorruptDataException.mismatch(
                    file.name(), "checksum of the checksums", Crc32cs.hex(expected), Crc32cs.hex(found));
        }
        return new RunFooter(identity, rows, keys, footer.batches(), linesAt, lines, checksums);
    }

    /** Checks that the batches follow each other, and returns the end of the last one. */
    private static long batchesEnd(List<ArrowFooter.Block> batches, long rows) {
        require(batches.size() == (rows + RunFormat.BATCH_ROWS - 1) / RunFormat.BATCH_ROWS, "batches", batches.size());
        long at = batches.get(0).position();
        require(at >= RecordBatchLayout.ALIGNMENT && at <= Short.MAX_VALUE, "begin of the first batch", at);
        for (ArrowFooter.Block batch : batches) {
            long body = batch.bodyLength();
            require(
                    batch.position() == at
                            && batch.headLength() == RunFormat.LAYOUT.headLength()
                            && body > 0
                            && body <= RunFormat.MAX_BATCH_BYTES - batch.headLength()
                            && body == RecordBatchLayout.align(body),
                    "batch",
                    batch);
            at += batch.headLength() + body;
        }
        return at;
    }

    /** Returns the number of rows of a batch. */
    int batchRows(int batch) {
        long before = (long) batch * RunFormat.BATCH_ROWS;
        return (int) Math.min(RunFormat.BATCH_ROWS, rows - before);
    }

    /** Returns the number of lines that have a checksum together with line 1024·block. */
    int blockLines(int block) {
        return (int) Math.min(RunFormat.BLOCK_LINES, lines + 1 - (long) block * RunFormat.BLOCK_LINES);
    }

    /** Compares the checksum of a part. */
    void check(int number, ByteBuffer part, String what, String name) throws CorruptDataException {
        int expected = checksums.getInt(4 * number);
        int found = Crc32cs.of(part);
        if (found != expected) {
            throw CorruptDataException.mismatch(
                    name, "CRC32C of its " + what, Crc32cs.hex(expected), Crc32cs.hex(found), SampleRun.ADVICE);
        }
    }

    private static String text(Map<String, String> metadata, String key) {
        String text = metadata.get(key);
        if (text == null) {
            throw new IllegalArgumentException("no " + key);
        }
        return text;
    }

    private static long number(Map<String, String> metadata, String key) {
        String text = text(metadata, key);
        if (!text.matches(NUMBER)) {
            throw new IllegalArgumentException(key + " is '" + text + "'");
        }
        return Long.parseLong(text);
    }

    private static int hex(Map<String, String> metadata, String key) {
        String text = text(metadata, key);
        if (!text.matches("[0-9a-f]{8}")) {
            throw new IllegalArgumentException(key + " is '" + text + "'");
        }
        return Integer.parseUnsignedInt(text, 16);
    }

    private static void require(boolean holds, String what, Object found) {
        if (!holds) {
            throw new IllegalArgumentException("its " + what + ": " + found);
        }
    }
}

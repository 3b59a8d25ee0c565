package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.values.ValuesWriter;
import org.apache.parquet.io.api.Binary;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the first page of a column chunk in several ways, and the others in the way that made it smallest after
 * compression. For one thread.
 */
final class TriedEncodings extends ValuesWriter {
    /** Plain values are the quickest to read, so another encoding must save a part of the page. */
    private static final double LEAST_SAVING = 0.05;

    private final List<ValuesWriter> candidates;
    private final BlockCompressor codec;
    private @Nullable ValuesWriter chosen;

    /** @param candidates the first one is for plain values */
    TriedEncodings(List<ValuesWriter> candidates, BlockCompressor codec) {
        this.candidates = candidates;
        this.codec = codec;
    }

    private void each(Consumer<ValuesWriter> action) {
        if (chosen != null) {
            action.accept(chosen);
        } else {
            candidates.forEach(action);
        }
    }

    /** Returns the writer that was chosen, and until then the plain one. */
    private ValuesWriter own() {
        return chosen == null ? candidates.get(0) : chosen;
    }

    @Override
    public void writeInteger(int value) {
        each(writer -> writer.writeInteger(value));
    }

    @Override
    public void writeLong(long value) {
        each(writer -> writer.writeLong(value));
    }

    @Override
    public void writeFloat(float value) {
        each(writer -> writer.writeFloat(value));
    }

    @Override
    public void writeDouble(double value) {
        each(writer -> writer.writeDouble(value));
    }

    @Override
    public void writeBytes(Binary value) {
        each(writer -> writer.writeBytes(value));
    }

    @Override
    public BytesInput getBytes() {
        // A page of nulls says nothing about values.
        if (chosen != null || candidates.get(0).getBufferedSize() == 0) {
            return own().getBytes();
        }
        try {
            return choose();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private BytesInput choose() throws IOException {
        double least = Double.POSITIVE_INFINITY;
        byte[] bytes = null;
        for (ValuesWriter candidate : candidates) {
            byte[] page = ColumnPages.bytes(candidate.getBytes());
            double size = codec.compress(page).length;
            if (size < least) {
                least = chosen == null ? size * (1 - LEAST_SAVING) : size;
                chosen = candidate;
                bytes = page;
            }
        }
        for (ValuesWriter candidate : candidates) {
            if (candidate != chosen) {
                candidate.close();
            }
        }
        return BytesInput.from(Objects.requireNonNull(bytes, "there is a candidate"));
    }

    @Override
    public Encoding getEncoding() {
        return own().getEncoding();
    }

    @Override
    public long getBufferedSize() {
        return own().getBufferedSize();
    }

    @Override
    public void reset() {
        each(ValuesWriter::reset);
    }

    @Override
    public void close() {
        each(ValuesWriter::close);
    }

    @Override
    public long getAllocatedSize() {
        long[] size = {0};
        each(writer -> size[0] += writer.getAllocatedSize());
        return size[0];
    }

    @Override
    public String memUsageString(String prefix) {
        return own().memUsageString(prefix);
    }
}

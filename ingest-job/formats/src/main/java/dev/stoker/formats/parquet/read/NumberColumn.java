package dev.stoker.formats.parquet.read;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.parquet.column.ParquetColumn;
import dev.stoker.formats.parquet.page.HybridDecoder;
import dev.stoker.formats.parquet.page.Leaf;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.formats.parquet.page.Page;
import dev.stoker.formats.parquet.page.PageDecoder;
import dev.stoker.formats.parquet.page.PageReader;
import dev.stoker.formats.parquet.page.ScratchBuffers;
import dev.stoker.schemas.arrow.FixedValues;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/**
 * Reads a column of numbers that is in no list, a block of rows at a time. PLAIN values of a block that is in one page
 * and has no nulls stay where they are. For one thread.
 */
final class NumberColumn {
    /** The bit of a float that tells a quiet NaN from a signalling one. */
    private static final int QUIET = 0x00400000;

    private final Leaf leaf;
    private final FieldType type;
    private final PageReader pages;
    private final ScratchBuffers scratch;
    private final int[] definitions;
    private final int rows;

    private @Nullable Page page;
    private @Nullable PageDecoder decoder;
    private int leftInPage;

    /** Values of a block that are not used where they are. */
    private ByteBuffer own = ByteBuffer.allocate(0);

    private byte[] narrow = new byte[0];
    private byte[] validity = new byte[0];
    private boolean hasNulls;

    /**
     * @param column satisfies {@link #isReadable}
     * @param scratch for the physical type of the column
     * @param definitions scratch with a place for each row of a block
     */
    NumberColumn(ParquetColumn column, PageReader pages, ScratchBuffers scratch, int[] definitions) {
        this.leaf = column.source().leaf();
        this.type = column.column().type();
        this.pages = pages;
        this.scratch = scratch;
        this.definitions = definitions;
        this.rows = definitions.length;
    }

    /** Returns whether the values of a column are numbers, with the bytes that the field has. */
    static boolean isReadable(ParquetColumn column) {
        Leaf leaf = column.source().leaf();
        PrimitiveTypeName physical = leaf.type().getPrimitiveTypeName();
        boolean isNumber = physical == PrimitiveTypeName.INT32
                || physical == PrimitiveTypeName.INT64
                || physical == PrimitiveTypeName.FLOAT
                || physical == PrimitiveTypeName.DOUBLE;
        FieldType type = column.column().type();
        return isNumber
                && leaf.maxRepetition() == 0
                && column.classes().isEmpty()
                && column.file() == null
                && FixedValues.isAnyPatternValid(type)
                && (type.width() == leaf.width() || (physical == PrimitiveTypeName.INT32 && type.width() < 4));
    }

    /** Returns the values of the next rows, at most as many as there is scratch for. */
    FixedValues next(int count) throws IOException, BadValueException {
        try {
            ByteBuffer values = decode(count);
            if (leaf.type().getPrimitiveTypeName() == PrimitiveTypeName.FLOAT) {
                values = quiet(values, count);
            }
            if (type.width() < leaf.width()) {
                values = narrowed(values, count);
            }
            return new FixedValues(
                    values.array(), values.arrayOffset() + values.position(), hasNulls ? validity : null);
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw e;
        } catch (IOException | IndexOutOfBoundsException e) {
            throw pages.damaged(LeafReader.how(e), e);
        }
    }

    private ByteBuffer decode(int count) throws IOException, BadValueException {
        hasNulls = false;
        for (int done = 0; done < count; ) {
            while (leftInPage == 0) {
                nextPage();
            }
            int levels = Math.min(count - done, leftInPage);
            leftInPage -= levels;
            int present = readLevels(levels);
            if (present == count) {
                ByteBuffer slice = decoder().slicePlain(count);
                if (slice != null) {
                    endPage();
                    return slice;
                }
            }
            ByteBuffer dst = own().position(done * leaf.width());
            if (present > 0) {
                decoder().readPlain(dst, present, scratch);
            }
            endPage();
            if (present < levels) {
                spread(done, levels, present);
            }
            done += levels;
        }
        return own.clear();
    }

    private void nextPage() throws IOException {
        page = pages.next();
        decoder = null;
        if (page == null) {
            throw pages.damaged("it has too few rows", null);
        }
        leftInPage = page.values();
    }

    private void endPage() throws IOException {
        if (leftInPage == 0 && decoder != null) {
            decoder.end();
        }
    }

    /** Reads levels and returns how many of them have a value. If some have none, the levels are in the scratch. */
    private int readLevels(int count) throws IOException {
        int max = leaf.maxDefinition();
        HybridDecoder levels =
                Objects.requireNonNull(page, "levels come from a page").definition();
        if (levels == null || levels.skipRun(max, count)) {
            return count;
        }
        levels.read(definitions, count);
        int present = 0;
        for (int i = 0; i < count; i++) {
            int level = definitions[i];
            if (level < 0 || level > max) {
                throw new IOException("a level is " + level + "; the greatest one is " + max);
            }
            present += level == max ? 1 : 0;
        }
        return present;
    }

    private PageDecoder decoder() throws IOException {
        if (decoder == null) {
            decoder = Objects.requireNonNull(page, "values come from a page")
                    .decoder()
                    .open();
        }
        return decoder;
    }

    private ByteBuffer own() {
        if (own.capacity() == 0) {
            own = ByteBuffer.allocate(rows * leaf.width()).order(ByteOrder.LITTLE_ENDIAN);
        }
        return own.clear();
    }

    /** Moves the values of rows to their places, with zeros for nulls. */
    private void spread(int first, int count, int present) throws BadValueException {
        if (!hasNulls) {
            validity = validity.length == 0 ? new byte[(rows + 7) / 8] : validity;
            Arrays.fill(validity, (byte) 0xFF);
            hasNulls = true;
        }
        int max = leaf.maxDefinition();
        int value = first + present;
        for (int row = first + count - 1; row >= first; row--) {
            boolean isNull = definitions[row - first] < max;
            if (isNull) {
                validity[row >>> 3] &= (byte) ~(1 << (row & 7));
            } else {
                value--;
            }
            if (leaf.width() == 4) {
                own.putInt(4 * row, isNull ? 0 : own.getInt(4 * value));
            } else {
                own.putLong(8 * row, isNull ? 0 : own.getLong(8 * value));
            }
        }
    }

    /**
     * Makes signalling NaNs quiet, as a {@link dev.stoker.formats.RowReader} does, which gives each value as a double.
     */
    private static ByteBuffer quiet(ByteBuffer values, int count) {
        ByteBuffer floats = values.order(ByteOrder.LITTLE_ENDIAN);
        int start = floats.position();
        boolean isQuiet = true;
        for (int i = 0; i < count; i++) {
            isQuiet &= !isSignalling(floats.getInt(start + 4 * i));
        }
        if (isQuiet) {
            return floats;
        }
        ByteBuffer copy = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            int bits = floats.getInt(start + 4 * i);
            copy.putInt(isSignalling(bits) ? bits | QUIET : bits);
        }
        return copy.clear();
    }

    private static boolean isSignalling(int bits) {
        return (bits & 0x7FC00000) == 0x7F800000 && (bits & 0x003FFFFF) != 0;
    }

    private ByteBuffer narrowed(ByteBuffer values, int count) throws BadValueException {
        int width = type.width();
        narrow = narrow.length == 0 ? new byte[rows * width] : narrow;
        boolean isSigned = type == ScalarType.INT8 || type == ScalarType.INT16;
        int least = isSigned ? -1 << (8 * width - 1) : 0;
        int greatest = isSigned ? ~least : (1 << (8 * width)) - 1;
        ByteBuffer ints = values.order(ByteOrder.LITTLE_ENDIAN);
        int start = ints.position();
        for (int i = 0; i < count; i++) {
            int value = ints.getInt(start + 4 * i);
            if (value < least || value > greatest) {
                throw new BadValueException(value + " is not between " + least + " and " + greatest);
            }
            narrow[i * width] = (byte) value;
            if (width == 2) {
                narrow[2 * i + 1] = (byte) (value >> 8);
            }
        }
        return ByteBuffer.wrap(narrow);
    }
}

package dev.stoker.formats.parquet.page;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Moves over the levels and values of one column chunk, of which it holds a batch. Levels and values are decoded apart,
 * as nulls have levels only. For one thread.
 */
public final class LeafReader {
    private final Leaf leaf;
    private final PageReader pages;
    private final ValueBatch batch;
    private final int[] definitions;
    private final int[] repetitions;

    private @Nullable Page page;
    private @Nullable PageDecoder decoder;
    private int leftInPage;

    private int levels;
    private int level;

    /** Whether each level of the batch has a value. */
    private boolean dense;

    /** Values of the batch of levels that are not decoded yet. */
    private int pending;

    private int values;
    private int value;

    public LeafReader(Leaf leaf, PageReader pages) {
        this.leaf = leaf;
        this.pages = pages;
        batch = new ValueBatch(leaf.physical());
        definitions = new int[leaf.maxDefinition() > 0 ? ValueBatch.SIZE : 0];
        repetitions = new int[leaf.maxRepetition() > 0 ? ValueBatch.SIZE : 0];
    }

    public Leaf leaf() {
        return leaf;
    }

    /** Returns whether there is another level, and decodes a batch of them if necessary. */
    public boolean hasLevel() throws IOException {
        if (level < levels) {
            return true;
        }
        while (leftInPage == 0) {
            page = pages.next();
            if (page == null) {
                return false;
            }
            leftInPage = page.values();
            decoder = null;
        }
        levels = Math.min(ValueBatch.SIZE, leftInPage);
        level = 0;
        values = 0;
        value = 0;
        leftInPage -= levels;
        try {
            readLevels(Objects.requireNonNull(page, "levels come from a page"));
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw e;
        } catch (IOException e) {
            throw pages.damaged(how(e), e);
        }
        return true;
    }

    private void readLevels(Page from) throws IOException {
        if (from.repetition() != null) {
            from.repetition().read(repetitions, levels);
            check(repetitions, leaf.maxRepetition());
        }
        pending = levels;
        if (from.definition() != null && !isRunOfValues(from.definition())) {
            from.definition().read(definitions, levels);
            check(definitions, leaf.maxDefinition());
            int max = leaf.maxDefinition();
            int count = 0;
            for (int i = 0; i < levels; i++) {
                count += definitions[i] == max ? 1 : 0;
            }
            pending = count;
        }
        dense = pending == levels;
    }

    /** Returns whether no value of the batch is null, if that can be told without reading its levels. */
    private boolean isRunOfValues(HybridDecoder definition) throws IOException {
        return repetitions.length == 0 && definition.skipRun(leaf.maxDefinition(), levels);
    }

    private void check(int[] array, int max) throws IOException {
        for (int i = 0; i < levels; i++) {
            if (array[i] < 0 || array[i] > max) {
                throw new IOException("a level is " + array[i] + "; the greatest one is " + max);
            }
        }
    }

    /** Returns the definition level. Call {@link #hasLevel} before. */
    public int definition() {
        return definitions.length == 0 ? 0 : definitions[level];
    }

    /** Returns the repetition level. Call {@link #hasLevel} before. */
    public int repetition() {
        return repetitions.length == 0 ? 0 : repetitions[level];
    }

    /** Returns whether there is a value at this level. */
    public boolean hasValue() {
        return dense || definition() == leaf.maxDefinition();
    }

    /**
     * Moves over rows of a column that is in no list, if the batch has their values and one more.
     *
     * @return false if nothing was done, see {@link #skipRows}
     */
    public boolean moveInBatch(long rows) {
        if (dense && rows < levels - level && rows < values - value) {
            level += (int) rows;
            value += (int) rows;
            return true;
        }
        return false;
    }

    /** Returns the batch that has the value of this level. Call {@link #index} after it. */
    public ValueBatch value() throws IOException {
        if (value == values) {
            decode();
        }
        return batch;
    }

    /** Returns the index of the value of this level in {@link #value}. */
    public int index() {
        return value;
    }

    /** Moves to the next level. */
    public void advance() throws IOException {
        if (hasValue()) {
            if (value == values) {
                decode();
            }
            value++;
        }
        level++;
    }

    /** Moves over rows of a column that is in no list. */
    public void skipRows(long rows) throws IOException {
        long left = rows;
        while (left > 0) {
            if (!hasLevel()) {
                throw pages.damaged("it has too few rows", null);
            }
            int n = (int) Math.min(left, levels - level);
            int present = n;
            if (!dense) {
                present = 0;
                for (int i = level; i < level + n; i++) {
                    present += definitions[i] == leaf.maxDefinition() ? 1 : 0;
                }
            }
            while (present > values - value) {
                present -= values - value;
                value = values;
                decode();
            }
            value += present;
            level += n;
            left -= n;
        }
    }

    public DamagedFileException damaged(String how) {
        return pages.damaged(how, null);
    }

    private void decode() throws IOException {
        try {
            if (decoder == null) {
                decoder = Objects.requireNonNull(page, "levels come from a page")
                        .decoder()
                        .open();
            }
            values = decoder.read(batch, Math.min(ValueBatch.SIZE, pending));
            value = 0;
            pending -= values;
            if (pending == 0 && leftInPage == 0) {
                decoder.end();
            }
        } catch (DamagedFileException | UnsupportedFileException e) {
            throw e;
        } catch (IOException | IndexOutOfBoundsException e) {
            throw pages.damaged(how(e), e);
        }
        if (values == 0) {
            throw pages.damaged("its values end too early", null);
        }
    }

    /** Returns the clause of a failure. An index that a file has led astray says nothing about it. */
    public static String how(Exception e) {
        return e instanceof IndexOutOfBoundsException ? "its values are corrupt" : ErrorText.of(e);
    }
}

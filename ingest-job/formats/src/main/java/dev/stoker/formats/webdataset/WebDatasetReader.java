package dev.stoker.formats.webdataset;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.tar.TarMember;
import dev.stoker.formats.tar.TarReader;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.values.Utf8;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Reads samples: consecutive members with one key. Not thread-safe. */
final class WebDatasetReader implements RowReader {
    /** Larger arrays are not kept for the next sample. */
    private static final int KEEP = 1 << 24;

    private static final int MAX_STRAYS = 10_000;

    private final ByteInput in;
    private final TarReader tar;
    private final ReadLimits limits;
    private final List<RowColumn> schema;
    private final Others others;
    private final int[] columns;
    private final Map<String, Integer> columnOf = new HashMap<>();
    private final boolean[] selected;
    private final boolean[] present;
    private final ByteBuffer[] values;
    private final byte[][] arrays;
    private final ShardKeys seen = new ShardKeys();

    /** Members between those of a sample that belong to none. They are reported behind the sample. */
    private final Queue<TarMember> strays = new ArrayDeque<>();

    /** The member behind the sample. It has a key. */
    private @Nullable TarMember ahead;

    private boolean started;
    private String key = "";
    /** Key of a sample that was left out after an error. */
    private @Nullable String dropped;

    private long offset;
    private boolean canSkip;

    WebDatasetReader(ByteInput in, ReadLimits limits, List<RowColumn> schema, int[] columns, Others others) {
        this.in = in;
        this.tar = new TarReader(in);
        this.limits = limits;
        this.schema = schema;
        this.columns = columns.clone();
        this.others = others;
        selected = new boolean[schema.size()];
        present = new boolean[schema.size()];
        values = new ByteBuffer[schema.size()];
        arrays = new byte[schema.size()][0];
        for (int column : columns) {
            selected[column] = true;
        }
        for (int i = 0; i < schema.size(); i++) {
            columnOf.put(schema.get(i).name(), i);
        }
    }

    @Override
    public boolean next() throws IOException {
        canSkip = false;
        if (!started) {
            started = true;
            advance();
        }
        while (ahead != null && dropped != null && isOf(ahead, dropped)) {
            advance();
        }
        dropped = null;
        TarMember stray = strays.poll();
        if (stray != null) {
            offset = stray.offset();
            throw skippable("member " + Utf8.shown(stray.name())
                    + " has no extension, so it belongs to no sample; write the archive without it");
        }
        if (ahead == null) {
            return false;
        }
        offset = ahead.offset();
        key = name(ahead).key();
        long before = seen.put(key, offset);
        if (before >= 0) {
            throw returned(before);
        }
        sample();
        return true;
    }

    private static MemberName name(TarMember member) {
        return Objects.requireNonNull(MemberName.of(member.name()), "strays were left out");
    }

    private static boolean isOf(TarMember member, String key) {
        return name(member).key().equals(key);
    }

    /** Moves to the next member that belongs to a sample. Those that belong to none do not end a sample. */
    private void advance() throws IOException {
        while (true) {
            ahead = tar.next();
            if (ahead == null) {
                return;
            }
            if (MemberName.isLeftOut(ahead.name())) {
                continue;
            }
            if (MemberName.of(ahead.name()) != null) {
                return;
            }
            if (strays.size() == MAX_STRAYS) {
                throw new UnsupportedFileException(in.name() + ": more than " + MAX_STRAYS + " members up to "
                        + Utf8.shown(ahead.name()) + " at offset " + ahead.offset()
                        + " have no extension, so they belong to no sample; write the archive without them");
            }
            strays.add(ahead);
        }
    }

    /** Reads over a sample whose key was there before. It can be left out if the first one is whole without it. */
    private IOException returned(long before) throws IOException {
        long first = seen.columns(key);
        long columnsHere = 0;
        while (ahead != null && isOf(ahead, key)) {
            Integer column = columnOf.get(name(ahead).extension());
            columnsHere |= column == null ? 0 : bit(column);
            advance();
        }
        String there = "sample " + Utf8.shown(key) + " is there already, at offset " + before;
        String advice = "; the members of a sample must follow each other (tar --sort=name), and names must be unique";
        if ((columnsHere & ~first) == 0) {
            return skippable(there + advice);
        }
        // Not damage, which may be left out: the first half is a sample already.
        return new UnsupportedFileException(in.name() + ": the sample at offset " + offset + " cannot be read: " + there
                + ", without these members, so it was read in part" + advice);
    }

    /** Returns the bit of a column in {@link ShardKeys}. Columns that share the last one always count as new. */
    private static long bit(int column) {
        return 1L << Math.min(column, Long.SIZE - 1);
    }

    private void sample() throws IOException {
        Arrays.fill(present, false);
        long bytes = 0;
        long found = 0;
        while (ahead != null && isOf(ahead, key)) {
            String extension = name(ahead).extension();
            Integer column = columnOf.get(extension);
            if ((column == null && others != Others.IGNORE) || extension.equals(Extensions.KEY)) {
                throw drop("the extension of member " + Utf8.shown(ahead.name()) + " is not among the columns; add it"
                        + " with " + ShellText.pair("--type", extension, "binary") + ", or leave it out with --without "
                        + ShellText.word(extension));
            }
            if (column != null) {
                if (present[column]) {
                    throw drop(
                            "member " + Utf8.shown(ahead.name()) + " at offset " + ahead.offset() + " is there twice");
                }
                present[column] = true;
                found |= column < Long.SIZE - 1 ? bit(column) : 0;
                if (selected[column]) {
                    bytes += ahead.size();
                    checkSize(ahead, bytes);
                    values[column] = tar.read(arrays[column]);
                    arrays[column] = values[column].array().length <= KEEP ? values[column].array() : new byte[0];
                }
            }
            advance();
        }
        seen.setColumns(key, found);
    }

    /** Leaves out the whole sample, also members of it that come back later. */
    private DamagedFileException drop(String reason) {
        dropped = key;
        seen.setColumns(key, -1);
        return skippable(reason);
    }

    private void checkSize(TarMember member, long sampleBytes) throws UnsupportedFileException {
        if (member.size() > limits.valueBytes() || sampleBytes > limits.memoryBytes()) {
            throw new UnsupportedFileException(in.name() + ": member " + Utf8.shown(member.name()) + " at offset "
                    + member.offset() + " has " + member.size() + " bytes, and its sample needs at least " + sampleBytes
                    + " bytes of memory; a value may have " + limits.valueBytes() + " and a sample "
                    + limits.memoryBytes());
        }
    }

    private DamagedFileException skippable(String reason) {
        canSkip = true;
        return new DamagedFileException(in.name() + ": the sample at offset " + offset + " cannot be read: " + reason);
    }

    @Override
    public long position() {
        return offset;
    }

    @Override
    public void get(int column, ValueSink sink) throws BadValueException {
        int index = columns[column];
        RowColumn described = schema.get(index);
        if (described.name().equals(Extensions.KEY)) {
            sink.setBytes(ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8)));
        } else if (!present[index]) {
            sink.setNull();
        } else {
            give(described.type(), described.name(), values[index].duplicate(), sink);
        }
    }

    private static void give(FieldType type, String name, ByteBuffer value, ValueSink sink) throws BadValueException {
        if (type == ScalarType.BINARY || type == ScalarType.UTF8 || type == ScalarType.CATEGORICAL) {
            sink.setBytes(value);
            return;
        }
        String text = Utf8.decodeOrNull(value);
        try {
            if (text == null) {
                throw new BadValueException("the member is not text in UTF-8");
            }
            TextValue.put(text.strip(), type, sink);
        } catch (BadValueException e) {
            throw new BadValueException(
                    e.reason(),
                    "use " + ShellText.pair("--type", name, "utf8") + " or "
                            + ShellText.pair("--type", name, "binary"));
        }
    }

    @Override
    public boolean skip() {
        return canSkip;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}

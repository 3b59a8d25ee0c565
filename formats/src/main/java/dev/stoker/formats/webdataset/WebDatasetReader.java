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
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.arrow.ScalarType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads samples: consecutive members with one key. Not thread-safe. */
final class WebDatasetReader implements RowReader {
    /** Larger arrays are not kept for the next sample. */
    private static final int KEEP = 1 << 24;

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
    private final SeenKeys seen = new SeenKeys();

    /** The member behind the sample. */
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
        if (ahead == null) {
            return false;
        }
        offset = ahead.offset();
        MemberName first = MemberName.of(ahead.name());
        if (first == null) {
            String name = ahead.name();
            advance();
            throw skippable("member " + Utf8.shown(name)
                    + " has no base name or no extension, so it belongs to no sample; write the archive without it");
        }
        key = first.key();
        long before = seen.put(key, offset);
        if (before >= 0) {
            dropped = key;
            throw skippable("sample " + Utf8.shown(key) + " is there already, at offset " + before
                    + "; the members of a sample must follow each other (tar --sort=name), and names must be unique");
        }
        sample();
        return true;
    }

    private static boolean isOf(TarMember member, String key) {
        MemberName name = MemberName.of(member.name());
        return name != null && name.key().equals(key);
    }

    private void advance() throws IOException {
        do {
            ahead = tar.next();
        } while (ahead != null && MemberName.isMetadata(ahead.name()));
    }

    private void sample() throws IOException {
        Arrays.fill(present, false);
        long bytes = 0;
        while (ahead != null && isOf(ahead, key)) {
            String extension = Objects.requireNonNull(MemberName.of(ahead.name()), "the member has the key")
                    .extension();
            Integer column = columnOf.get(extension);
            if ((column == null && others != Others.IGNORE) || extension.equals(Extensions.KEY)) {
                dropped = key;
                throw skippable(
                        "the extension of member " + Utf8.shown(ahead.name()) + " is not among the columns; add it"
                                + " with --type " + extension + "=binary, or leave it out with --without " + extension);
            }
            if (column != null) {
                if (present[column]) {
                    dropped = key;
                    throw skippable(
                            "member " + Utf8.shown(ahead.name()) + " at offset " + ahead.offset() + " is there twice");
                }
                present[column] = true;
                if (selected[column]) {
                    bytes += ahead.size();
                    checkSize(ahead, bytes);
                    values[column] = tar.read(arrays[column]);
                    arrays[column] = values[column].array().length <= KEEP ? values[column].array() : new byte[0];
                }
            }
            advance();
        }
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
            throw new BadValueException(e.getMessage() + "; use --type " + name + "=utf8 or =binary");
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

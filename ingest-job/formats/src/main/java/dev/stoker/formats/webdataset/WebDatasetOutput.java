package dev.stoker.formats.webdataset;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.stoker.formats.values.JsonValues;
import dev.stoker.formats.values.ValueText;
import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.path.KeyPaths;
import dev.stoker.schemas.text.ShellText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** Writes one archive. For one thread. */
final class WebDatasetOutput implements RowOutput {
    private static final JsonFactory JSON = new JsonFactory();
    private static final int MODE = 0100644;

    private final OutputStream stream;
    private final OutputTable table;
    private final TarArchiveOutputStream tar;
    private final String[] endings;

    WebDatasetOutput(OutputStream stream, OutputTable table) {
        this.stream = stream;
        this.table = table;
        this.tar = new TarArchiveOutputStream(stream, 512, StandardCharsets.UTF_8.name());
        tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
        tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_POSIX);
        tar.setAddPaxHeadersForNonAsciiNames(true);
        this.endings = table.columns().stream().map(WebDatasetWriter::ending).toArray(String[]::new);
    }

    /**
     * Returns the name of a key's members before the dot. Readers divide a name at the first dot of its last part, and
     * leave out hidden members and those below a first part such as {@code __info__}; so these characters are escaped.
     */
    static String base(String key) {
        String path = KeyPaths.of(key);
        int last = path.lastIndexOf('/') + 1;
        StringBuilder base = new StringBuilder(path.length());
        boolean isMetadata = MemberName.isMetadata(path);
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            boolean beginsPart = i == 0 || path.charAt(i - 1) == '/';
            if ((c == '.' && (i >= last || beginsPart)) || (i == 0 && isMetadata)) {
                base.append(KeyPaths.escape(c));
            } else {
                base.append(c);
            }
        }
        return base.toString();
    }

    @Override
    public void write(RowBatch rows) throws IOException {
        for (int row = 0; row < rows.rows(); row++) {
            String base = base(rows.columns().get(table.key()).stringAt(row));
            int members = 0;
            for (int c = 0; c < endings.length; c++) {
                if (c != table.key() && !rows.columns().get(c).isNull(row)) {
                    member(base + "." + endings[c], new Cell(table, rows, c, row));
                    members++;
                }
            }
            if (members == 0) {
                throw new UnwritableValueException(
                        table.nameOf(rows, row),
                        "all",
                        "it has no value in any column, so that the archive would have no member of it; add a column"
                                + " that has one, or leave such samples out with --where "
                                + ShellText.word(anyValue()));
            }
        }
    }

    /** Returns the condition that a sample has a value. */
    private String anyValue() {
        return IntStream.range(0, endings.length)
                .filter(column -> column != table.key())
                .mapToObj(column -> RowExpression.column(table.stored().get(column)) + " IS NOT NULL")
                .collect(Collectors.joining(" OR "));
    }

    @SuppressWarnings("ByteBufferBackingArray") // Batches have arrays; the start is added.
    private void member(String name, Cell cell) throws IOException {
        FieldType type = cell.type();
        ByteBuffer content = type == ScalarType.BINARY || type == ScalarType.UTF8
                ? cell.source().bytesAt(cell.row())
                : ByteBuffer.wrap(converted(cell));
        TarArchiveEntry entry = new TarArchiveEntry(name, true);
        entry.setSize(content.remaining());
        entry.setMode(MODE);
        entry.setModTime(0L);
        tar.putArchiveEntry(entry);
        tar.write(content.array(), content.arrayOffset() + content.position(), content.remaining());
        tar.closeArchiveEntry();
    }

    private static byte[] converted(Cell cell) throws IOException {
        if (cell.type() instanceof TensorType tensor) {
            return NumpyArray.of(tensor.element(), tensor.shape(), cell.source().bytesAt(cell.row()));
        }
        ScalarType numbers = cell.type().numbers();
        if (numbers != null) {
            ByteBuffer values = cell.source().bytesAt(cell.row());
            return NumpyArray.of(numbers, List.of(values.limit() / numbers.width()), values);
        }
        return WebDatasetWriter.isListOfItems(cell.type())
                ? json(cell)
                : ValueText.of(cell).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] json(Cell cell) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(bytes)) {
            JsonValues.write(cell, out);
        }
        return bytes.toByteArray();
    }

    @Override
    public void finish() throws IOException {
        tar.finish();
        tar.flush();
        stream.close();
    }

    @Override
    public void close() {}
}

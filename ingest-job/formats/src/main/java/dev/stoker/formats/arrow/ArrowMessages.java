package dev.stoker.formats.arrow;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.schemas.io.RangeReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The messages of an Arrow file or stream.
 *
 * <pre>
 * continuation  4  0xFFFFFFFF
 * length        4  of the metadata with its padding; 0 ends a stream
 * metadata      n  a flatbuffer
 * body             buffers
 * </pre>
 *
 * Writers before Arrow 0.15 wrote no continuation. A file begins with "ARROW1" and two zeros, and ends with a footer (a
 * flatbuffer that says where the messages are), its length in 4 bytes, and "ARROW1".
 */
final class ArrowMessages {
    static final String MAGIC = "ARROW1";

    private static final int PREFIX = 8;

    /** The length alone, before Arrow 0.15. */
    private static final int OLD_PREFIX = 4;

    private static final int TAIL = 10;

    /** A flatbuffer has an offset and a table, which begins with an offset. */
    private static final int MIN_METADATA = 8;

    private static final int READ_BYTES = 8 << 20;

    private final RangeReader file;
    private final ReadLimits limits;
    private final List<Body> batches = new ArrayList<>();
    private final List<Body> dictionaries = new ArrayList<>();
    private final boolean isFile;
    private Schema schema;
    private int schemaBytes;

    /** The end of the message that was read last. */
    private long next;

    /**
     * A message with buffers.
     *
     * @param data a record batch or the record batch of a dictionary
     * @param dictionary the dictionary, or null
     * @param offset where the message begins
     * @param body where its buffers begin
     * @param bodyLength length of its buffers
     */
    record Body(RecordBatch data, @Nullable DictionaryBatch dictionary, long offset, long body, long bodyLength) {}

    ArrowMessages(RangeReader file, ReadLimits limits) throws IOException {
        this.file = file;
        this.limits = limits;
        long length = file.length();
        isFile = length >= MAGIC.length() && isMagic(read(0, MAGIC.length()), 0);
        try {
            if (isFile) {
                readFooter(length);
            } else {
                scan(length);
            }
            if (schema == null) {
                throw damaged("it has no schema", null);
            }
            if (schema.endianness() != Endianness.Little) {
                throw unsupported("big-endian numbers");
            }
        } catch (RuntimeException e) {
            throw damaged("its metadata is corrupt", e);
        }
    }

    private static boolean isMagic(ByteBuffer bytes, int at) {
        return StandardCharsets.ISO_8859_1
                .decode(bytes.slice(at, MAGIC.length()))
                .toString()
                .equals(MAGIC);
    }

    String name() {
        return file.name();
    }

    Schema schema() {
        return schema;
    }

    int schemaBytes() {
        return schemaBytes;
    }

    List<Body> batches() {
        return batches;
    }

    /** Returns the dictionaries that a batch may use, in their order. */
    List<Body> dictionaries(Body batch) {
        return isFile
                ? dictionaries
                : dictionaries.stream().filter(d -> d.offset() < batch.offset()).toList();
    }

    private void readFooter(long length) throws IOException {
        if (length < PREFIX + TAIL) {
            throw damaged("it has " + length + " bytes only, and no footer", null);
        }
        ByteBuffer tail = read(length - TAIL, TAIL);
        long footerLength = tail.getInt(0);
        if (!isMagic(tail, Integer.BYTES)) {
            throw damaged("it does not end with " + MAGIC + "; it was cut off", null);
        }
        if (footerLength <= 0 || footerLength > length - TAIL - PREFIX) {
            throw damaged("its footer has " + footerLength + " bytes, but the file has " + length, null);
        }
        Footer footer = Footer.getRootAsFooter(metadata(length - TAIL - footerLength, footerLength));
        schema = footer.schema();
        schemaBytes = (int) footerLength;
        int blocks = footer.dictionariesLength() + footer.recordBatchesLength();
        if (blocks < 0 || blocks > footerLength) {
            throw damaged("its footer declares " + blocks + " blocks", null);
        }
        for (int i = 0; i < footer.dictionariesLength(); i++) {
            add(footer.dictionaries(i), MessageHeader.DictionaryBatch);
        }
        for (int i = 0; i < footer.recordBatchesLength(); i++) {
            add(footer.recordBatches(i), MessageHeader.RecordBatch);
        }
    }

    private void add(Block block, byte type) throws IOException {
        Message message = message(block.offset());
        if (message == null || message.headerType() != type) {
            throw damaged("no message of type " + type + " is at byte " + block.offset(), null);
        }
    }

    private void scan(long length) throws IOException {
        for (long at = 0; at < length; at = next) {
            if (message(at) == null) {
                return;
            }
        }
    }

    /** Reads the metadata of a message. Returns null at the end of a stream. */
    private @Nullable Message message(long at) throws IOException {
        long length = file.length();
        if (at < 0) {
            throw damaged("its footer names a message at a negative position", null);
        }
        if (at > length - OLD_PREFIX) {
            throw damaged("a message at byte " + at + " is beyond its end", null);
        }
        int first = read(at, OLD_PREFIX).getInt(0);
        int prefix = first == -1 ? PREFIX : OLD_PREFIX;
        if (at > length - prefix) {
            throw damaged("a message at byte " + at + " is beyond its end", null);
        }
        long metadataLength = first == -1 ? read(at + OLD_PREFIX, Integer.BYTES).getInt(0) : first;
        if (metadataLength == 0) {
            return null;
        }
        if (metadataLength < MIN_METADATA || metadataLength > length - at - prefix) {
            throw damaged("no message begins at byte " + at, null);
        }
        Message message = Message.getRootAsMessage(metadata(at + prefix, metadataLength));
        long body = at + prefix + metadataLength;
        long bodyLength = message.bodyLength();
        if (bodyLength < 0 || bodyLength > length - body) {
            throw damaged(
                    "a message at byte " + at + " has " + bodyLength + " bytes, but only " + (length - body)
                            + " follow",
                    null);
        }
        if (message.version() < MetadataVersion.V4 || message.version() > MetadataVersion.V5) {
            throw unsupported("metadata version " + message.version());
        }
        next = body + bodyLength;
        switch (message.headerType()) {
            case MessageHeader.Schema -> {
                if (schema == null) {
                    schema = (Schema) message.header(new Schema());
                    schemaBytes = (int) metadataLength;
                }
            }
            case MessageHeader.RecordBatch -> {
                RecordBatch data = (RecordBatch) message.header(new RecordBatch());
                if (data == null || data.length() < 0 || data.length() > Integer.MAX_VALUE) {
                    throw damaged("a record batch at byte " + at + " has a wrong number of rows", null);
                }
                batches.add(new Body(data, null, at, body, bodyLength));
            }
            case MessageHeader.DictionaryBatch -> {
                DictionaryBatch dictionary = (DictionaryBatch) message.header(new DictionaryBatch());
                if (dictionary == null || dictionary.data() == null) {
                    throw damaged("a dictionary at byte " + at + " has no values", null);
                }
                dictionaries.add(new Body(dictionary.data(), dictionary, at, body, bodyLength));
            }
            default -> throw unsupported("messages of type " + message.headerType());
        }
        return message;
    }

    private ByteBuffer metadata(long offset, long length) throws IOException {
        if (length > limits.memoryBytes() / 8) {
            throw new UnsupportedFileException(name() + ": its metadata of " + length
                    + " bytes needs more than the limit of " + limits.memoryBytes()
                    + " bytes of memory" + limits.moreMemory(8 * length, "write the file with fewer columns"));
        }
        return read(offset, (int) length);
    }

    /** Reads bytes whose range was checked. */
    ByteBuffer read(long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        try {
            for (int done = 0; done < length; done = bytes.position()) {
                bytes.limit(done + Math.min(READ_BYTES, length - done));
                file.readFully(offset + done, bytes);
            }
        } catch (EOFException e) {
            throw damaged("it ends before byte " + (offset + length), e);
        }
        return bytes.clear();
    }

    DamagedFileException damaged(String how, @Nullable Throwable cause) {
        return new DamagedFileException(name() + " is damaged: " + how + "; restore the file from a copy", cause);
    }

    UnsupportedFileException unsupported(String feature) {
        return new UnsupportedFileException(
                name() + " has " + feature + ", which Stoker does not read; write the file again with pyarrow");
    }
}

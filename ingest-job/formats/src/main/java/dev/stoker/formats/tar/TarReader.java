package dev.stoker.formats.tar;

import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.values.Utf8;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Moves over the files in a tar archive. Skips directories and refuses links and devices. Not thread-safe. */
public final class TarReader {
    /** Far more than any operating system allows for a path. */
    private static final int MAX_EXTENSION = 1 << 20;

    private static final int MAX_EXTENSIONS = 16;

    private final ByteInput in;
    private final byte[] block = new byte[TarHeader.BLOCK];
    /** Bytes of the member and its padding that were not read. */
    private long left;

    private long padding;
    /** Set by the headers before a member. */
    private byte @Nullable [] longName;

    private long longSize;

    public TarReader(ByteInput in) {
        this.in = in;
    }

    /** Moves to the next file, or returns null at the end of the archive. */
    public @Nullable TarMember next() throws IOException {
        endMember();
        longName = null;
        longSize = -1;
        long first = in.position();
        for (int extensions = 0; ; extensions++) {
            long offset = in.position();
            if (!header(offset)) {
                if (offset > first) {
                    throw damaged(first, "a header of a long name or of attributes is the last one");
                }
                return null;
            }
            long size = TarHeader.size(block);
            if (size < 0) {
                throw damaged(offset, "its size is not a number");
            }
            char type = TarHeader.type(block);
            if (type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K') {
                if (extensions == MAX_EXTENSIONS) {
                    throw damaged(offset, "there are more than " + MAX_EXTENSIONS + " headers for one member");
                }
                extension(type, offset, size);
                continue;
            }
            byte[] name = longName == null ? TarHeader.name(block) : longName;
            String text = name(name, offset);
            content(longSize >= 0 ? longSize : size, offset);
            if (type == '5' || ((type == 0 || type == '0') && text.endsWith("/"))) {
                endMember();
                longName = null;
                longSize = -1;
                first = in.position();
                extensions = -1;
                continue;
            }
            if (type != 0 && type != '0' && type != '7') {
                throw new UnsupportedFileException(in.name() + ": member " + Utf8.shown(text) + " at offset " + offset
                        + " is " + words(type) + ", not a file; write the archive without it");
            }
            return new TarMember(text, first, left);
        }
    }

    private static String words(char type) {
        return switch (type) {
            case '1' -> "a hard link";
            case '2' -> "a symbolic link";
            case '3', '4' -> "a device";
            case '6' -> "a named pipe";
            case 'S' -> "a sparse file";
            case 'M' -> "a part of a file that continues another archive";
            case 'V' -> "a volume name";
            default -> "of type " + (type > ' ' && type < 0x7f ? "'" + type + "'" : "0x" + Integer.toHexString(type));
        };
    }

    private String name(byte[] bytes, long offset) throws IOException {
        String name = Utf8.decodeOrNull(ByteBuffer.wrap(bytes));
        if (name == null) {
            throw new UnsupportedFileException(in.name() + ": the name of the member at offset " + offset
                    + " is not UTF-8: "
                    + Utf8.shown(new String(bytes, StandardCharsets.UTF_8).replace('\ufffd', '?'))
                    + "; give the file a name in UTF-8 and write the archive again");
        }
        if (name.isEmpty()) {
            throw damaged(offset, "its name is empty");
        }
        return name;
    }

    /** Reads a header. Returns false at the end of the archive. */
    private boolean header(long offset) throws IOException {
        int read = in.read(block, 0, block.length);
        if (read == 0) {
            throw new DamagedFileException(in.name() + " ends at offset " + offset
                    + " without the zero block that ends a tar archive, so members may be missing; restore"
                    + " the file from a copy");
        }
        if (read < block.length) {
            throw damaged(offset, "the file ends in it");
        }
        if (!TarHeader.isZero(block)) {
            if (!TarHeader.isSound(block)) {
                throw damaged(offset, "its checksum is wrong");
            }
            return true;
        }
        do {
            read = in.read(block, 0, block.length);
            Arrays.fill(block, read, block.length, (byte) 0);
            if (!TarHeader.isZero(block)) {
                throw new DamagedFileException(
                        in.name() + " has other bytes behind the end of the tar archive at offset " + offset
                                + "; if several archives were joined, give them as separate files");
            }
        } while (read == block.length);
        return false;
    }

    private void extension(char type, long offset, long size) throws IOException {
        if (size > MAX_EXTENSION) {
            throw damaged(offset, "it has " + size + " bytes of attributes or name, more than " + MAX_EXTENSION);
        }
        content(size, offset);
        ByteBuffer content = in.read(size, "the header", new byte[0]);
        left = 0;
        endMember();
        byte[] bytes = new byte[(int) size];
        content.get(bytes);
        if (type == 'L') {
            int end = bytes.length;
            while (end > 0 && bytes[end - 1] == 0) {
                end--;
            }
            longName = Arrays.copyOf(bytes, end);
        } else if (type != 'K') {
            pax(PaxRecords.parse(bytes), type == 'g', offset);
        }
    }

    private void pax(@Nullable Map<String, byte[]> records, boolean global, long offset) throws IOException {
        if (records == null) {
            throw damaged(offset, "its pax records are not well-formed");
        }
        if (records.keySet().stream().anyMatch(key -> key.startsWith("GNU.sparse."))) {
            throw new UnsupportedFileException(in.name() + ": the member at offset " + offset
                    + " is a sparse file; write the archive without --sparse");
        }
        if (global && (records.containsKey("path") || records.containsKey("size"))) {
            throw new UnsupportedFileException(
                    in.name() + ": the pax header at offset " + offset + " gives one name or size to all members");
        }
        byte[] path = records.get("path");
        longName = path == null ? longName : path;
        byte[] size = records.get("size");
        if (size != null) {
            String digits = new String(size, StandardCharsets.ISO_8859_1).replaceFirst("^0+(?=.)", "");
            if (!digits.matches("[0-9]{1,18}")) {
                throw damaged(offset, "its size in pax records is not a number");
            }
            longSize = Long.parseLong(digits);
        }
    }

    private void content(long size, long offset) throws IOException {
        if (size > Long.MAX_VALUE - TarHeader.BLOCK) {
            throw damaged(offset, "its size is not possible");
        }
        left = size;
        padding = -size & (TarHeader.BLOCK - 1);
    }

    /** Reads the content of the member into an array if it is large enough, otherwise into a new one. */
    public ByteBuffer read(byte[] reuse) throws IOException {
        ByteBuffer content = in.read(left, "the content of a member", reuse);
        left = 0;
        return content;
    }

    private void endMember() throws IOException {
        in.skip(left, "the content of a member");
        in.skip(padding, "the padding of a member");
        left = 0;
        padding = 0;
    }

    private DamagedFileException damaged(long offset, String what) {
        return new DamagedFileException(in.name() + ": the tar header at offset " + offset + " is damaged: " + what
                + "; restore the file from a copy");
    }
}

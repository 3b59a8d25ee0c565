package dev.stoker.metadata.index.run;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.index.RunSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A run on a local disk, mapped. The mappings last until they are unreachable, so a deleted file stays readable.
 * Thread-safe.
 */
public final class MappedRun implements RunSource {

    /** A part is at most this long. */
    private static final int STEP_SHIFT = 30;

    private static final long STEP = 1L << STEP_SHIFT;

    private final String name;
    private final long length;
    /** Mapping i begins at i GiB and has up to 2 GiB, so it contains each part that begins in its first GiB. */
    private final ByteBuffer[] mappings;

    private MappedRun(String name, long length, ByteBuffer[] mappings) {
        this.name = name;
        this.length = length;
        this.mappings = mappings;
    }

    public static MappedRun open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long length = channel.size();
            ByteBuffer[] mappings = new ByteBuffer[(int) ((length + STEP - 1) >> STEP_SHIFT)];
            for (int i = 0; i < mappings.length; i++) {
                long begin = i * STEP;
                long size = Math.min(Integer.MAX_VALUE, length - begin);
                mappings[i] = channel.map(FileChannel.MapMode.READ_ONLY, begin, size);
            }
            return new MappedRun(file.toString(), length, mappings);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public ByteBuffer read(long position, int partLength) throws IOException {
        if (position < 0 || partLength < 0 || partLength > length - position) {
            throw new CorruptDataException(name + " is corrupt: bytes " + position + " to " + (position + partLength)
                    + " of its " + length + " are needed");
        }
        return partLength == 0
                ? ByteBuffer.allocate(0)
                : mappings[(int) (position >> STEP_SHIFT)].slice((int) (position & (STEP - 1)), partLength);
    }

    @Override
    public boolean takesMemory() {
        return false;
    }
}

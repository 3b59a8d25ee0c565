package dev.stoker.formats.mds;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.mds.MdsIndex.Shard;
import dev.stoker.formats.mds.MdsIndex.StoredFile;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.regex.Pattern;

/** MDS shards of MosaicML Streaming, version 2, also compressed with zstd, gzip or snappy. */
public final class MdsFormat implements RowFormat {
    private static final Pattern NAME = Pattern.compile(".*\\.mds(\\.[a-z0-9]+)?");
    private static final int WORD = 4;

    @Override
    public String name() {
        return "mds";
    }

    /** The offsets in the head fit the length of the file, and its name ends with {@code .mds}. */
    @Override
    public boolean recognises(FileHead file) {
        if (!NAME.matcher(file.name()).matches()) {
            return false;
        }
        // A compression that has no signature or is not read: opening it says so.
        if (!file.name().endsWith(".mds")) {
            return true;
        }
        ByteBuffer first = file.first().duplicate().order(ByteOrder.LITTLE_ENDIAN);
        if (first.remaining() < 2 * WORD) {
            return false;
        }
        long head = WORD * ((first.getInt(0) & 0xFFFFFFFFL) + 2);
        long sample = first.getInt(WORD) & 0xFFFFFFFFL;
        return sample > head && (head >= first.limit() || first.get((int) head) == '{');
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits) throws IOException {
        return MdsFile.open(file, limits, new StoredFile(file.name(), -1, Map.of()), -1);
    }

    /**
     * Opens a shard that an index describes. The number of samples is compared now, the hashes at the end of reading.
     *
     * @param file the shard's {@link Shard#stored} file
     */
    public RowFile open(RangeReader file, ReadLimits limits, Shard shard) throws IOException {
        StoredFile stored =
                shard.zip() != null && file.name().endsWith(shard.zip().name()) ? shard.zip() : shard.raw();
        return MdsFile.open(file, limits, stored, shard.samples());
    }
}

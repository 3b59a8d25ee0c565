package dev.stoker.ingest.rows.options;

import dev.stoker.formats.mds.MdsIndex;
import dev.stoker.formats.mds.MdsIndex.Shard;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceNotes;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Finds the descriptions of MDS shards in their indexes. Reads each index once. Thread-safe. */
public final class MdsShards {
    /** The shards by the locations of their files; guarded by this. */
    private final Map<String, Shard> shards = new HashMap<>();

    /** Locations of the indexes that were read; guarded by this. */
    private final Set<String> read = new HashSet<>();

    /** Returns the description of a file that an index names. */
    public synchronized Shard of(SourceFile file) throws IOException {
        String location = file.index();
        if (!read.contains(location)) {
            int slash = location.lastIndexOf('/');
            SourceFile index = RowSources.file(location);
            MdsIndex parsed = MdsIndex.parse(location, SourceNotes.bytes(index, MdsIndex.MAX_BYTES));
            for (Shard shard : parsed.shards()) {
                shards.put(location.substring(0, slash + 1) + shard.raw().name(), shard);
                shards.put(location.substring(0, slash + 1) + shard.stored().name(), shard);
            }
            read.add(location);
        }
        Shard shard = shards.get(file.location());
        if (shard == null) {
            throw new IOException("the index " + location + " has changed during the ingest: it does not name "
                    + file.location() + "; run the ingest again when nothing writes to it");
        }
        return shard;
    }
}

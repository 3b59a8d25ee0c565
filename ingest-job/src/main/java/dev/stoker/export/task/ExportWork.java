package dev.stoker.export.task;

import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import java.io.Serializable;
import java.util.ArrayList;

/**
 * The work of an export's tasks.
 *
 * @param dataset location of the dataset
 * @param version version to export
 * @param content of the files
 * @param order of the samples
 * @param shards the files; for a tree of files, ranges of samples
 * @param splitDirectories whether a tree of files has a directory for each split
 * @param target the place
 */
public record ExportWork(
        String dataset,
        long version,
        Content content,
        RowOrder order,
        ArrayList<Shard> shards,
        boolean splitDirectories,
        TargetLocation target)
        implements Serializable {
    private static final long serialVersionUID = 1;
}

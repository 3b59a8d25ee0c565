package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.ColumnHints;
import dev.stoker.ingest.pack.SampleAccess;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.arrow.FieldType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The instructions for the tasks of a row ingest. Serialized with the job graph.
 *
 * @param format name of the source's format
 * @param mapping of columns to fields
 * @param types canonical type of each column that is read, as the source has it
 * @param declared columns whose source type the user has declared
 * @param isWhole whether each column of the source is read, so that a further one is an error
 * @param target the dataset's location: an absolute path or a URI
 * @param dataset content of its dataset.json
 * @param ingest id of the ingest
 * @param seed of the shuffle
 * @param splitRule assigns samples to splits, if the mapping names no column for it
 * @param chunkSizeBytes length of a chunk
 * @param memoryBytes memory that the selected columns of one part may take
 * @param errors what to do with rows and parts that cannot be read
 * @param access to the dataset
 */
record RowWork(
        String format,
        RowMapping mapping,
        TreeMap<String, String> types,
        ArrayList<String> declared,
        boolean isWhole,
        String target,
        byte[] dataset,
        String ingest,
        long seed,
        SplitRule splitRule,
        int chunkSizeBytes,
        long memoryBytes,
        FileTree.Errors errors,
        SampleAccess access)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Returns what other files of the source must have, if their format does not describe their columns. */
    ColumnHints hints() {
        Map<String, FieldType> known = new LinkedHashMap<>();
        types.forEach((name, type) -> known.put(name, FieldType.parse(type)));
        Set<String> inferred = new HashSet<>(known.keySet());
        declared.forEach(inferred::remove);
        return new ColumnHints(
                List.of(), known, inferred, isWhole ? ColumnHints.Others.REFUSE : ColumnHints.Others.IGNORE);
    }

    DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(dataset, target);
    }
}

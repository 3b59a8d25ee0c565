package dev.stoker.ingest.rows.read;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;
import java.util.ArrayList;

/**
 * The instructions for the tasks of a row ingest. Serialized with the job graph.
 *
 * @param reading how files are read
 * @param mapping of columns to fields
 * @param omitted counts of files and rows that the plan leaves out
 * @param target the dataset's location: an absolute path or a URI
 * @param dataset content of its dataset.json
 * @param ingest id of the ingest
 * @param seed of the shuffle
 * @param splitRule assigns samples to splits, if the mapping names no column for it
 * @param onDuplicate decides about keys that occur twice or that the dataset already has
 * @param chunkSizeBytes length of a chunk
 * @param access to the dataset
 */
public record RowWork(
        RowReading reading,
        RowMapping mapping,
        Omitted omitted,
        String target,
        byte[] dataset,
        String ingest,
        long seed,
        SplitRule splitRule,
        OnDuplicate onDuplicate,
        int chunkSizeBytes,
        SampleAccess access)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /**
     * What the plan has left out.
     *
     * @param files files whose directories exclude {@code --where}; their rows are not counted
     * @param parts parts of other files whose statistics exclude {@code --where}
     * @param rows the rows of these parts
     * @param unreadable files that could not be opened
     */
    public record Omitted(long files, long parts, long rows, ArrayList<Unreadable> unreadable) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    public FileTree.Errors errors() {
        return reading.errors();
    }

    public DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(dataset, target);
    }
}

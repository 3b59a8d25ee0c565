package dev.stoker.ingest.pack.plan;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The instructions for a packing task. Serialized with the job graph.
 *
 * @param tree to pack
 * @param order in which its files arrive
 * @param target the dataset's location: an absolute path or a URI
 * @param dataset content of its dataset.json
 * @param ingest id of the ingest
 * @param startedMs when the ingest began; chunks have this creation time, so that a repeated one is identical
 * @param content name of the field that holds a file's bytes
 * @param label the source of the class, and its field; null for no label
 * @param sidecars further fields
 * @param splitRule assigns samples to splits
 * @param onDuplicate decides about keys that the dataset already has
 * @param sync what a sync compares; null for an ingest
 * @param chunkSizeBytes length of a chunk
 * @param threads that read and write
 * @param readAhead files of a tree on another file system that are read at a time
 * @param access to samples and dataset
 */
public record PackPlan(
        FileTree tree,
        WalkOrder order,
        String target,
        byte[] dataset,
        String ingest,
        long startedMs,
        String content,
        @Nullable Label label,
        ArrayList<Sidecar> sidecars,
        SplitRule splitRule,
        OnDuplicate onDuplicate,
        @Nullable SyncRule sync,
        int chunkSizeBytes,
        int threads,
        int readAhead,
        SampleAccess access)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /**
     * A class and its field.
     *
     * @param rule the source of the class
     * @param field that holds it
     */
    public record Label(LabelRule rule, String field) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    public DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(dataset, target);
    }

    public Optional<Label> labelled() {
        return Optional.ofNullable(label);
    }

    public List<Sidecar> sidecarList() {
        return sidecars;
    }
}

package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.LabelRule;
import dev.stoker.ingest.Sidecar;
import dev.stoker.ingest.SplitRule;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * All that a packing task is told. Travels with the job graph.
 *
 * @param tree that is packed
 * @param order in which its files arrive
 * @param target where the dataset lies: an absolute path or a URI
 * @param dataset content of its dataset.json
 * @param ingest id of the ingest
 * @param startedMs when the ingest began; chunks say that they were created then, so that a repeated one is the same
 * @param content name of the field that holds a file's bytes
 * @param label where the class comes from, and the field that holds it; null for no label
 * @param sidecars further fields
 * @param splitRule which split a sample goes to
 * @param chunkSizeBytes length of a chunk
 * @param threads that read and write
 * @param readAhead files of a tree elsewhere that are read at a time
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
        Label label,
        ArrayList<Sidecar> sidecars,
        SplitRule splitRule,
        int chunkSizeBytes,
        int threads,
        int readAhead,
        Access access)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /**
     * A class and where it goes.
     *
     * @param rule where it comes from
     * @param field that holds it
     */
    public record Label(LabelRule rule, String field) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(dataset, target);
    }

    Optional<Label> labelled() {
        return Optional.ofNullable(label);
    }

    List<Sidecar> sidecarList() {
        return sidecars;
    }
}

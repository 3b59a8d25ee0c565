package dev.stoker.ingest.stream;

import dev.stoker.connectors.chunks.DatasetStore;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.ingest.SplitRule;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;

/**
 * All that a packing task of a stream is told. Travels with the job graph.
 *
 * @param topic that is read
 * @param topicId its id
 * @param place of dataset and run
 * @param value what the records' values are
 * @param mapping what becomes of a record beside its value
 * @param splitRule which split a sample goes to
 * @param chunkSizeBytes length of a chunk
 * @param letters what becomes of records that cannot become samples
 */
record StreamPlan(
        TopicLocation topic,
        String topicId,
        Place place,
        ValueFormat value,
        RecordMapping mapping,
        SplitRule splitRule,
        int chunkSizeBytes,
        Letters letters)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /**
     * Dataset and run.
     *
     * @param store opens the dataset's store
     * @param target where the dataset lies: an absolute path or a URI
     * @param dataset content of its dataset.json
     * @param baseVersion newest version when the run began; 0 for none
     * @param run id of this start of the job
     */
    record Place(DatasetStore store, String target, byte[] dataset, long baseVersion, String run)
            implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /**
     * Where dead letters go.
     *
     * @param location directory or URI that takes them
     * @param most a task gives up when it has more
     */
    record Letters(String location, long most) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(place.dataset(), place.target());
    }
}

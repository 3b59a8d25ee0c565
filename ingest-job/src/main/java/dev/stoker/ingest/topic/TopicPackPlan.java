package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.ingest.topic.value.RecordMapping;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import java.io.Serializable;
import java.util.EnumSet;

/**
 * The instructions for a packing task of a stream. Serialized with the job graph.
 *
 * @param topic to read
 * @param topicId its id
 * @param place dataset and run
 * @param value the format of the records' values
 * @param mapping maps key, time and headers of a record to fields
 * @param splitRule assigns samples to splits
 * @param chunkSizeBytes length of a chunk
 * @param letters the rule for records that cannot become samples
 */
record TopicPackPlan(
        TopicLocation topic,
        String topicId,
        Place place,
        RecordFormat value,
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
     * @param target the dataset's location: an absolute path or a URI
     * @param dataset content of its dataset.json
     * @param baseVersion newest version when the run began; 0 for none
     * @param run id of this start of the job
     */
    record Place(DatasetStore store, String target, byte[] dataset, long baseVersion, String run)
            implements Serializable {
        private static final long serialVersionUID = 1;
    }

    /**
     * The destination of dead letters.
     *
     * @param location directory or URI for them
     * @param most a task fails if it has more
     * @param leftOut records that are left out instead
     */
    record Letters(String location, long most, EnumSet<RecordsLeftOut> leftOut) implements Serializable {
        private static final long serialVersionUID = 1;
    }

    DatasetInfo info() throws StokerException {
        return DatasetInfo.decode(place.dataset(), place.target());
    }
}

package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Determines where reading begins: at the dataset's position, or as the options request.
 *
 * @param options the requested options
 * @param position the dataset's position in the topic, if it has records of it
 * @param notes receives notes for the user
 */
record TopicStart(TopicIngestOptions options, Optional<TopicPosition> position, List<String> notes) {

    SortedMap<Integer, Long> offsets(SourceTopic topic, SourceTopic.Shape shape, SortedMap<Integer, Long> end)
            throws IOException {
        SortedMap<Integer, Long> beginnings = topic.beginnings(shape.partitions());
        if (position.isEmpty()) {
            return switch (options.reach().from()) {
                case EARLIEST -> beginnings;
                case LATEST -> end;
                case TIME ->
                    topic.since(shape.partitions(), options.reach().since().toEpochMilli());
            };
        }
        return after(position.get(), beginnings, end);
    }

    /** Returns where an ingest continues behind the records that the dataset has. */
    SortedMap<Integer, Long> after(
            TopicPosition last, SortedMap<Integer, Long> beginnings, SortedMap<Integer, Long> end)
            throws StokerException {
        TreeMap<Integer, Long> start = new TreeMap<>(beginnings);
        List<String> problems = new ArrayList<>();
        last.next().forEach((partition, next) -> {
            Long beginning = beginnings.get(partition);
            Long ending = end.get(partition);
            if (beginning == null || ending == null || next > ending) {
                problems.add("the dataset is at offset " + next + " of partition " + partition + " of the "
                        + options.topic() + ", which ends at "
                        + (beginning == null ? "no such partition" : ending)
                        + ": the brokers have lost records; ingest it into a new dataset");
            } else if (next >= beginning) {
                start.put(partition, next);
            } else if (options.reach().gaps() == TopicIngestOptions.Gaps.ALLOWED) {
                notes.add("partition " + partition + ": offsets " + next + " to " + (beginning - 1)
                        + " are not in the dataset: the brokers have deleted them");
            } else {
                problems.add("the brokers have deleted the offsets " + next + " to " + (beginning - 1)
                        + " of partition " + partition + " of the " + options.topic()
                        + " before they were ingested; continue without them with --allow-gap");
            }
        });
        if (!problems.isEmpty()) {
            throw new StokerException(String.join("; ", problems));
        }
        return start;
    }
}

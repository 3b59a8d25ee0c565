package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The result of a topic ingest.
 *
 * @param versions number of committed versions
 * @param newestVersion of the dataset; 0 for none
 * @param samples in those versions
 * @param bytes of their chunks
 * @param deadLetters records that could not become samples, and their location
 * @param leftOut records that were left out; none if the job ran in another process
 * @param position the dataset's position in the topic, if it has records of it
 * @param hidden what open transactions hid at the end of the topic, if it was read to its end
 * @param duration since the submission of the job
 */
public record TopicIngestResult(
        long versions,
        long newestVersion,
        long samples,
        long bytes,
        DeadLetterCount deadLetters,
        SortedMap<RecordsLeftOut, Long> leftOut,
        Optional<TopicPosition> position,
        Optional<String> hidden,
        Duration duration) {

    /**
     * Dead letters of a run.
     *
     * @param count the number
     * @param location directory or URI that contains them
     */
    public record DeadLetterCount(long count, String location) {}

    /** The result as text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(
                versions == 0
                        ? "no new version: there were no new samples" + (hidden.isEmpty() ? "" : " that can be read")
                        : (versions == 1 ? "version " : versions + " versions up to ") + newestVersion + ": "
                                + Units.plural(samples, "sample") + ", " + Units.bytes(bytes) + ", "
                                + Units.seconds(duration));
        if (deadLetters.count() > 0) {
            lines.add("dead letters: " + Units.plural(deadLetters.count(), "record") + " could not become samples; see "
                    + deadLetters.location());
        }
        leftOut.forEach((kind, count) -> lines.add("left out: " + kind.text(count)));
        hidden.ifPresent(text -> lines.add("note: " + text));
        position.ifPresent(p -> lines.add("the same command resumes at " + p.topic() + " "
                + TopicPosition.text(p.next()) + " (partition=offset)"));
        return lines;
    }
}

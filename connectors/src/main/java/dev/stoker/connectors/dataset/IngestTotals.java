package dev.stoker.connectors.dataset;

import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.LogEntry;
import java.util.List;
import java.util.Map;

/**
 * What one start of a topic ingest has committed so far. Each of its log entries carries the totals up to itself, so
 * that one entry tells what any number of versions hold. Normative: {@code docs/formats/dataset.md}.
 *
 * @param versions how many it has committed
 * @param samples in those versions
 * @param bytes of their chunks
 * @param deadLetters records that could not become samples
 */
public record IngestTotals(long versions, long samples, long bytes, long deadLetters) {

    /** Of a start that has committed nothing. */
    public static final IngestTotals NONE = new IngestTotals(0, 0, 0, 0);

    private static final String TOTALS = "kafka.totals";

    /**
     * Returns the totals up to a log entry.
     *
     * @param run id of the start; {@link #NONE} if the entry is of another one
     * @throws CommitRefusedException if the entry's totals cannot be read
     */
    public static IngestTotals of(LogEntry entry, String run) throws CommitRefusedException {
        if (!entry.ingest().startsWith(run + "-")) {
            return NONE;
        }
        String text = entry.properties().getOrDefault(TOTALS, "");
        String[] parts = text.split(",", -1);
        if (parts.length == 4) {
            try {
                return new IngestTotals(
                        Long.parseLong(parts[0]),
                        Long.parseLong(parts[1]),
                        Long.parseLong(parts[2]),
                        Long.parseLong(parts[3]));
            } catch (NumberFormatException e) {
                // Reported below.
            }
        }
        throw new CommitRefusedException("The log entry of version " + entry.version() + " has " + TOTALS + " '" + text
                + "', expected four numbers; run `stoker verify` on the dataset");
    }

    public IngestTotals plus(List<ChunkSummary> chunks, long moreDeadLetters) {
        long rows = 0;
        long length = 0;
        for (ChunkSummary chunk : chunks) {
            rows += chunk.rows();
            length += chunk.length();
        }
        return new IngestTotals(versions + 1, samples + rows, bytes + length, deadLetters + moreDeadLetters);
    }

    /** As a property of a log entry. */
    public Map<String, String> properties() {
        return Map.of(TOTALS, versions + "," + samples + "," + bytes + "," + deadLetters);
    }
}

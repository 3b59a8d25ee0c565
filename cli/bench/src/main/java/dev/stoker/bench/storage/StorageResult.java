package dev.stoker.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.measure.Machine;
import dev.stoker.bench.measure.Rounds;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * The measurements of a store.
 *
 * @param target as typed
 * @param files number and bytes of the files that were read
 * @param writeRate bytes a second of the writing of the test files; 0 if nothing was written
 * @param reads one for each cell that was reached
 * @param metadata one for each operation and depth
 * @param notes what a reader of the figures must know
 */
public record StorageResult(
        String target, Files files, double writeRate, List<Read> reads, List<Metadata> metadata, List<String> notes) {

    /**
     * The files that were read.
     *
     * @param kind {@code test file} or {@code chunk}
     */
    public record Files(String kind, int count, long bytes) {}

    /**
     * One cell of the table.
     *
     * @param bytesPerSecond by round
     * @param p50Nanos the median of the time of one read, over all rounds
     * @param p99Nanos 99 % of the reads took at most this time
     */
    public record Read(ReadCase of, Rounds bytesPerSecond, long p50Nanos, long p99Nanos) {}

    /**
     * One metadata operation.
     *
     * @param operation its name
     * @param depth operations at a time
     * @param perSecond by round
     */
    public record Metadata(String operation, int depth, Rounds perSecond) {}

    public StorageResult {
        reads = List.copyOf(reads);
        metadata = List.copyOf(metadata);
        notes = List.copyOf(notes);
    }

    /**
     * The same for programs.
     *
     * @param load of the machine before the measurement
     */
    public ObjectNode json(Instant at, double load) {
        ObjectNode json = Machine.describe("storage", at, load);
        json.put("target", target);
        json.putObject("files")
                .put("kind", files.kind())
                .put("count", files.count())
                .put("bytes", files.bytes());
        if (writeRate > 0) {
            json.put("write_bytes_per_s", writeRate);
        }
        ArrayNode cells = json.putArray("reads");
        for (Read read : reads) {
            ObjectNode cell = cells.addObject()
                    .put("pattern", read.of().pattern().toString())
                    .put("cache", read.of().cache().toString())
                    .put("block_bytes", read.of().blockBytes())
                    .put("depth", read.of().depth())
                    .put("p50_us", micros(read.p50Nanos()))
                    .put("p99_us", micros(read.p99Nanos()));
            cell.set("bytes_per_s", read.bytesPerSecond().json());
        }
        ArrayNode operations = json.putArray("metadata");
        for (Metadata operation : metadata) {
            operations
                    .addObject()
                    .put("operation", operation.operation())
                    .put("depth", operation.depth())
                    .set("per_s", operation.perSecond().json());
        }
        notes.forEach(json.putArray("notes")::add);
        return json;
    }

    private static double micros(long nanos) {
        return Double.parseDouble(String.format(Locale.ROOT, "%.1f", nanos / 1e3));
    }
}

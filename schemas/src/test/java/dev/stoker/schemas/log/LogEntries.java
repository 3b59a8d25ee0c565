package dev.stoker.schemas.log;

import dev.stoker.schemas.chunk.ChunkOverlay;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Log entries with fixed ids and times. */
public final class LogEntries {

    /** The dataset of all entries. */
    public static final UUID DATASET = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");

    private LogEntries() {}

    /** A chunk whose numbers follow from its ordinal. */
    public static AddedChunk chunk(long ordinal, String split, int rows) {
        UUID id = new UUID(0x0197_0000_0000_7000L | ordinal << 16, 0x8000_0000_0000_0000L | ordinal * 0x9E37_79B9L);
        return new AddedChunk(
                ordinal,
                id,
                split,
                rows,
                100_000 + ordinal,
                (int) (0xF000_0000L + ordinal),
                4096,
                (int) ordinal,
                1000 + rows);
    }

    /** An entry that adds chunks. */
    public static LogEntry adding(long version, AddedChunk... chunks) {
        return new LogEntry(
                DATASET,
                version,
                "ingest-" + version,
                Operation.INGEST,
                1_790_000_000_123L,
                "ada@host",
                List.of(chunks),
                List.of(),
                Map.of(),
                Map.of());
    }

    /** An entry that was ingested from a topic. */
    public static LogEntry from(String topic, long version, AddedChunk... chunks) {
        return with(adding(version, chunks), Operation.INGEST, Map.of(LogEntry.TOPIC, topic, "kafka.next", "0=1"));
    }

    /** An entry that was rebuilt from chunk heads. */
    public static LogEntry recovered(long version, AddedChunk... chunks) {
        return with(adding(version, chunks), Operation.RECOVERED, Map.of());
    }

    private static LogEntry with(LogEntry entry, Operation operation, Map<String, String> properties) {
        return new LogEntry(
                entry.dataset(),
                entry.version(),
                entry.ingest(),
                operation,
                entry.committedMs(),
                entry.committedBy(),
                entry.added(),
                entry.removed(),
                entry.classes(),
                properties);
    }

    /** An entry that removes. */
    public static LogEntry removing(long version, RemovedRows... removed) {
        return new LogEntry(
                DATASET,
                version,
                "ingest-" + version,
                Operation.REMOVE,
                1_790_000_000_123L,
                "ada@host",
                List.of(),
                List.of(removed),
                Map.of(),
                Map.of());
    }

    /** An update of a chunk; its overlay follows from the number. */
    public static UpdatedChunk overlay(long ordinal, int number) {
        UUID id = new UUID(0x0198_0000_0000_7000L | (long) number << 16, 0x8000_0000_0000_0000L | number);
        return new UpdatedChunk(
                ordinal, new ChunkOverlay(id, 3000 + number, (int) (0xE000_0000L + number)), 2000 + number);
    }

    /** An entry that gives chunks overlays. */
    public static LogEntry updating(long version, UpdatedChunk... updated) {
        return new LogEntry(
                DATASET,
                version,
                "ingest-" + version,
                Operation.UPDATE,
                1_790_000_000_123L,
                "ada@host",
                List.of(),
                List.of(),
                List.of(updated),
                Map.of(),
                Map.of());
    }

    /** Returns an entry with a value in every field. */
    public static LogEntry full() {
        return new LogEntry(
                DATASET,
                7,
                "2026-11-20-photos",
                Operation.REPLACE,
                1_790_000_000_123L,
                "ada@host",
                List.of(chunk(10, "train", 75), chunk(11, "val", 1)),
                List.of(RemovedRows.wholeChunk(3), RemovedRows.of(4, 0, 7, 300)),
                List.of(overlay(5, 1), overlay(300, 2)),
                Map.of("label", List.of("Katze", "hund", "é", "\uFFFD", "😀"), "none", List.of()),
                Map.of("source", "/data/photos", "command", "stoker ingest"));
    }
}

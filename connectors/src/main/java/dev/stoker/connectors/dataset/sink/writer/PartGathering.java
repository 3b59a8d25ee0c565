package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Collects the reports between two checkpoints of a stream. For one thread. */
final class PartGathering {

    private final List<PackReport.Chunk> chunks = new ArrayList<>();
    private final Map<String, SortedSet<String>> classes = new TreeMap<>();

    void add(PackReport report) {
        if (report instanceof PackReport.Chunk chunk) {
            chunks.add(chunk);
        } else if (report instanceof PackReport.Done done) {
            done.classes()
                    .forEach((field, names) ->
                            classes.computeIfAbsent(field, f -> new TreeSet<>()).addAll(names));
        }
    }

    boolean isEmpty() {
        return chunks.isEmpty();
    }

    /** Returns the chunks and classes since the last call. */
    IngestCommittable take(IngestCommittable.Part part) {
        IngestCommittable taken = new IngestCommittable(
                part,
                chunks.stream()
                        .sorted(GatheringWriter.ORDER)
                        .map(PackReport.Chunk::chunk)
                        .toList(),
                List.of(),
                new TreeMap<>(classes),
                Map.of(),
                Map.of());
        chunks.clear();
        classes.clear();
        return taken;
    }
}

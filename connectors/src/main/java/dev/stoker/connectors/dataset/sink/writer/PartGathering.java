package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.metadata.chunks.UsedClasses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Collects the reports between two checkpoints of a stream. For one thread. */
final class PartGathering {

    private final List<PackReport.Chunk> chunks = new ArrayList<>();
    private UsedClasses classes = new UsedClasses();

    void add(PackReport report) {
        if (report instanceof PackReport.Chunk chunk) {
            chunks.add(chunk);
        } else if (report instanceof PackReport.Done done) {
            classes.add(done.classes());
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
                classes.names(),
                Map.of(),
                Map.of());
        chunks.clear();
        classes = new UsedClasses();
        return taken;
    }
}

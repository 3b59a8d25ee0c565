package dev.stoker.bench.demand;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.measure.Machine;
import java.time.Instant;
import java.util.List;

/**
 * What some accelerators ask for together, and how a feed met it.
 *
 * @param shapes the workloads
 * @param accelerators of each workload
 * @param runs emulated accelerators that consumed a feed; empty if none did
 * @param notes what a reader of the figures must know
 */
public record Demand(List<Shape> shapes, int accelerators, List<AcceleratorRun> runs, List<String> notes) {
    public Demand {
        shapes = List.copyOf(shapes);
        runs = List.copyOf(runs);
        notes = List.copyOf(notes);
        if (accelerators < 1) {
            throw new IllegalArgumentException("option --accelerators: " + accelerators + " must be positive");
        }
    }

    /**
     * The same for programs.
     *
     * @param load of the machine before the measurement
     */
    public ObjectNode json(Instant at, double load) {
        ObjectNode json = Machine.describe("demand", at, load);
        json.put("accelerators", accelerators);
        ArrayNode all = json.putArray("shapes");
        for (Shape shape : shapes) {
            all.addObject()
                    .put("shape", shape.name())
                    .put("accelerator", shape.accelerator())
                    .put("sample_bytes", shape.sampleBytes())
                    .put("sample_bytes_stdev", shape.deviation())
                    .put("batch_size", shape.batchSize())
                    .put("computation_time_s", shape.computeSeconds())
                    .put("utilization", shape.utilization())
                    .put("source", shape.source())
                    .put("samples_per_s", shape.samplesPerSecond())
                    .put("bytes_per_s", shape.bytesPerSecond());
        }
        ArrayNode measured = json.putArray("runs");
        runs.forEach(run -> measured.add(run.json()));
        notes.forEach(json.putArray("notes")::add);
        return json;
    }
}

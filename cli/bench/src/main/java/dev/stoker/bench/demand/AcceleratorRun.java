package dev.stoker.bench.demand;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.measure.Rounds;

/**
 * How a feed met the demand of emulated accelerators.
 *
 * @param shape what each asked for
 * @param target the feed
 * @param accelerators emulated at the same time
 * @param utilization the share of the time that they computed, by round
 * @param samplesPerSecond of all together, by round
 * @param bytesPerSecond of all together, by round
 */
public record AcceleratorRun(
        Shape shape,
        String target,
        int accelerators,
        Rounds utilization,
        Rounds samplesPerSecond,
        Rounds bytesPerSecond) {

    /** Mean bytes of the samples that the feed delivered. */
    public double sampleBytes() {
        return samplesPerSecond.median() == 0 ? 0 : bytesPerSecond.median() / samplesPerSecond.median();
    }

    /** Whether the median reaches the least utilization of the shape. */
    public boolean isMet() {
        return utilization.median() >= shape.utilization();
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("shape", shape.name())
                .put("accelerator", shape.accelerator())
                .put("target", target)
                .put("accelerators", accelerators)
                .put("wanted", shape.utilization())
                .put("met", isMet());
        json.set("utilization", utilization.json());
        json.set("samples_per_s", samplesPerSecond.json());
        json.set("bytes_per_s", bytesPerSecond.json());
        return json;
    }
}

package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.PathBundle;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.metrics.Counter;

/** Counts the files found by the walk, before the sort. */
public final class ListedCounter extends RichMapFunction<PathBundle, PathBundle> {

    private static final long serialVersionUID = 1;

    private final String ingest;
    private transient Optional<IngestMeter> meter;
    private transient Counter files;
    private transient Counter bytes;

    public ListedCounter(String ingest) {
        this.ingest = ingest;
    }

    @Override
    public void open(OpenContext context) {
        meter = IngestMeter.find(ingest);
        meter.ifPresent(IngestMeter::started);
        files = getRuntimeContext().getMetricGroup().counter("listedFiles");
        bytes = getRuntimeContext().getMetricGroup().counter("listedBytes");
    }

    @Override
    public PathBundle map(PathBundle bundle) {
        files.inc(bundle.count());
        bytes.inc(bundle.bytes());
        meter.ifPresent(m -> m.listed(bundle.count(), bundle.bytes()));
        return bundle;
    }
}

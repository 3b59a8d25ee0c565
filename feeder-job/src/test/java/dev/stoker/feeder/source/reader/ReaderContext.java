package dev.stoker.feeder.source.reader;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.SourceReaderMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.UserCodeClassLoader;

/** What a reader has around it: the events that it sent and the records that it emitted. One thread. */
public final class ReaderContext implements SourceReaderContext, ReaderOutput<byte[]> {
    private final List<SourceEvent> events = new ArrayList<>();
    private final List<byte[]> emitted = new ArrayList<>();
    private final SourceReaderMetricGroup metrics = UnregisteredMetricsGroup.createSourceReaderMetricGroup();

    /** Events of a type, in order. */
    public <T extends SourceEvent> List<T> events(Class<T> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** Records, in order. */
    public List<byte[]> emitted() {
        return emitted;
    }

    @Override
    public SourceReaderMetricGroup metricGroup() {
        return metrics;
    }

    @Override
    public Configuration getConfiguration() {
        return new Configuration();
    }

    @Override
    public String getLocalHostName() {
        return "localhost";
    }

    @Override
    public int getIndexOfSubtask() {
        return 0;
    }

    @Override
    public void sendSplitRequest() {
        throw new UnsupportedOperationException("lanes are placed, not requested");
    }

    @Override
    public void sendSourceEventToCoordinator(SourceEvent event) {
        events.add(event);
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
        throw new UnsupportedOperationException("no code is loaded here");
    }

    @Override
    public void collect(byte[] entry) {
        emitted.add(entry);
    }

    @Override
    public void collect(byte[] entry, long timestamp) {
        emitted.add(entry);
    }

    @Override
    public void emitWatermark(Watermark watermark) {
        throw new UnsupportedOperationException("there are no watermarks");
    }

    @Override
    public void markIdle() {
        throw new UnsupportedOperationException("there are no watermarks");
    }

    @Override
    public void markActive() {
        throw new UnsupportedOperationException("there are no watermarks");
    }

    @Override
    public SourceOutput<byte[]> createOutputForSplit(String split) {
        return this;
    }

    @Override
    public void releaseOutputForSplit(String split) {}
}

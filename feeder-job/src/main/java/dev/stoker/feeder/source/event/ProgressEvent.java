package dev.stoker.feeder.source.event;

import dev.stoker.feeder.source.split.ConsumerEnd;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Reader to enumerator: how trainers are doing at this reader's server.
 *
 * @param encodedEnds the ends that the reader has seen so far, see {@link #ends()}
 * @param idleSinceMs since when (epoch milliseconds) no trainer has been connected; 0 while one is
 * @param stopRequested whether the process that hosts the server was asked to stop the feed
 */
public record ProgressEvent(byte[] encodedEnds, long idleSinceMs, boolean stopRequested) implements SourceEvent {

    public static ProgressEvent of(List<ConsumerEnd> ends, long idleSinceMs, boolean stopRequested) {
        DataOutputSerializer out = new DataOutputSerializer(64);
        try {
            LaneSplitSerializer.writeEnds(ends, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ProgressEvent(out.getCopyOfBuffer(), idleSinceMs, stopRequested);
    }

    /** Decodes the ends. */
    public List<ConsumerEnd> ends() {
        try {
            return LaneSplitSerializer.readEnds(new DataInputDeserializer(encodedEnds));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

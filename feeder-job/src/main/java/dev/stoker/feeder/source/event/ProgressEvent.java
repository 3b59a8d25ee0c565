package dev.stoker.feeder.source.event;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplitSerializer;
import dev.stoker.server.feed.GroupName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Reader to enumerator: how trainers are doing at this reader's server.
 *
 * @param encodedProgress what the reader has seen of consumers since its last such event, see {@link #progress()}
 * @param encodedOwing groups with receipts on their way to the ledger, see {@link #owing()}
 * @param idleSinceMs since when (epoch milliseconds) no trainer has been connected; 0 while one is
 * @param stopRequested whether the process that hosts the server was asked to stop the feed
 */
public record ProgressEvent(byte[] encodedProgress, byte[] encodedOwing, long idleSinceMs, boolean stopRequested)
        implements SourceEvent {

    public static ProgressEvent of(
            List<ConsumerProgress> progress, Collection<GroupName> owing, long idleSinceMs, boolean stopRequested) {
        DataOutputSerializer out = new DataOutputSerializer(64);
        DataOutputSerializer groups = new DataOutputSerializer(64);
        try {
            LaneSplitSerializer.writeProgress(progress, out);
            groups.writeInt(owing.size());
            for (GroupName group : owing) {
                groups.writeUTF(group.stream());
                groups.writeUTF(group.name());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ProgressEvent(out.getCopyOfBuffer(), groups.getCopyOfBuffer(), idleSinceMs, stopRequested);
    }

    /** Decodes the progress. */
    public List<ConsumerProgress> progress() {
        try {
            return LaneSplitSerializer.readProgress(new DataInputDeserializer(encodedProgress));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Decodes the groups. */
    public Set<GroupName> owing() {
        try {
            DataInputDeserializer in = new DataInputDeserializer(encodedOwing);
            Set<GroupName> groups = new HashSet<>();
            for (int left = in.readInt(); left > 0; left--) {
                groups.add(new GroupName(in.readUTF(), in.readUTF()));
            }
            return groups;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

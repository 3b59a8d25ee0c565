package dev.stoker.schemas.protocol;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.schemas.protocol.parts.Fields;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Admits the client and describes the stream (server to client).
 *
 * @param feed the feed
 * @param stream the stream
 * @param fingerprint fingerprint of the stream under the group's order spec
 * @param order the group's order spec
 * @param fields the dataset's fields
 * @param classes for each categorical field, the version's class names by id
 * @param laneRows live rows of each lane; with the order spec they determine every batch's pieces
 * @param samples live rows of the stream
 * @param largestBatchBytes upper bound of the message bytes of a delivered batch
 * @param epochs number of epochs after which the group is done; empty for no end
 * @param run the run of the session
 * @param session the session's number, for logs
 * @param laneMap the feeders of each lane
 * @param localFiles number of files that the server may announce at a time for local reads, at most the number in
 *     HELLO; 0 for no local reads
 * @param takesStats whether the client may send {@link Stats}; every server of this version sets it
 * @param follows whether each epoch of the stream has its own version
 * @param epoch if the stream follows its dataset: the only epoch of this session; empty if the client named none and
 *     may only look
 * @param readOnly whether the client must not send {@link Ack}, because its token permits only reading
 */
public record Welcome(
        FeedName feed,
        StreamName stream,
        Fingerprint fingerprint,
        OrderSpec order,
        List<FieldInfo> fields,
        Map<String, List<String>> classes,
        List<Long> laneRows,
        long samples,
        long largestBatchBytes,
        OptionalLong epochs,
        long run,
        long session,
        LaneMap laneMap,
        int localFiles,
        boolean takesStats,
        boolean follows,
        OptionalLong epoch,
        boolean readOnly)
        implements Frame {
    /** Contains a feed's id and name. */
    public record FeedName(UUID id, String name) {}

    /**
     * Describes a stream for the client.
     *
     * @param name its name in the feed
     * @param dataset the dataset's id
     * @param datasetName the dataset's name
     * @param version the version served
     * @param split the split served
     */
    public record StreamName(String name, UUID dataset, String datasetName, long version, String split) {}

    public Welcome {
        fields = List.copyOf(fields);
        laneRows = List.copyOf(laneRows);
        Map<String, List<String>> copy = new LinkedHashMap<>();
        classes.forEach((field, names) -> copy.put(field, List.copyOf(names)));
        classes = Collections.unmodifiableMap(copy);
        Fields.natural("samples", samples);
        Fields.natural("largest_batch", largestBatchBytes);
        Fields.natural("run", run);
        epochs.ifPresent(n -> Fields.natural("epochs", n));
        epoch.ifPresent(n -> Fields.u32("epoch", n));
        long sum = 0;
        for (long rows : laneRows) {
            Fields.natural("lane_rows", rows);
            sum = Math.addExact(sum, rows);
        }
        if (sum != samples) {
            throw new IllegalArgumentException("lane_rows sum to " + sum + ", samples is " + samples);
        }
    }

    /** Creates a WELCOME without local reads. */
    public Welcome(
            FeedName feed,
            StreamName stream,
            Fingerprint fingerprint,
            OrderSpec order,
            List<FieldInfo> fields,
            Map<String, List<String>> classes,
            List<Long> laneRows,
            long samples,
            long largestBatchBytes,
            OptionalLong epochs,
            long run,
            long session,
            LaneMap laneMap) {
        this(
                feed,
                stream,
                fingerprint,
                order,
                fields,
                classes,
                laneRows,
                samples,
                largestBatchBytes,
                epochs,
                run,
                session,
                laneMap,
                0,
                true,
                false,
                OptionalLong.empty(),
                false);
    }

    /** Returns the same WELCOME with local reads of at most {@code files} files at a time. */
    public Welcome withLocalReads(int files) {
        return with(files, follows, epoch, readOnly);
    }

    /** Returns the same WELCOME for a stream that follows its dataset, for one epoch only, or for none. */
    public Welcome following(OptionalLong only) {
        return with(localFiles, true, only, readOnly);
    }

    /** Returns the same WELCOME for a client that must not acknowledge. */
    public Welcome forReadingOnly() {
        return with(localFiles, follows, epoch, true);
    }

    private Welcome with(int files, boolean isFollowing, OptionalLong only, boolean onlyReading) {
        return new Welcome(
                feed,
                stream,
                fingerprint,
                order,
                fields,
                classes,
                laneRows,
                samples,
                largestBatchBytes,
                epochs,
                run,
                session,
                laneMap,
                files,
                takesStats,
                isFollowing,
                only,
                onlyReading);
    }

    /** Returns the lengths of every epoch. */
    public EpochSize size() {
        return new EpochSize(samples, order.batchSize());
    }

    @Override
    public FrameType type() {
        return FrameType.WELCOME;
    }
}

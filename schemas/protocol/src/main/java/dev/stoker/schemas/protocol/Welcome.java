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
 * @param columns the columns of the stream
 * @param pass the pass that the group shares
 * @param laneMap the feeders of each lane
 * @param session the session of the client
 */
public record Welcome(
        FeedName feed, StreamName stream, StreamColumns columns, PassInfo pass, LaneMap laneMap, SessionInfo session)
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

    /**
     * Describes the columns of a stream.
     *
     * @param fields the dataset's fields
     * @param classes for each categorical field, the version's class names by id
     */
    public record StreamColumns(List<FieldInfo> fields, Map<String, List<String>> classes) {
        public StreamColumns {
            fields = List.copyOf(fields);
            Map<String, List<String>> copy = new LinkedHashMap<>();
            classes.forEach((field, names) -> copy.put(field, List.copyOf(names)));
            classes = Collections.unmodifiableMap(copy);
        }
    }

    /**
     * Describes a pass over a stream in the order of a group.
     *
     * @param fingerprint fingerprint of the stream under the group's order spec
     * @param order the group's order spec
     * @param laneRows live rows of each lane; with the order spec they determine every batch's pieces
     * @param samples live rows of the stream
     * @param largestBatchBytes upper bound of the message bytes of a delivered batch
     * @param epochs number of epochs after which the group is done; empty for no end
     */
    public record PassInfo(
            Fingerprint fingerprint,
            OrderSpec order,
            List<Long> laneRows,
            long samples,
            long largestBatchBytes,
            OptionalLong epochs) {
        public PassInfo {
            laneRows = List.copyOf(laneRows);
            Fields.natural("samples", samples);
            Fields.natural("largest_batch", largestBatchBytes);
            epochs.ifPresent(n -> Fields.natural("epochs", n));
            long sum = 0;
            for (long rows : laneRows) {
                Fields.natural("lane_rows", rows);
                sum = Math.addExact(sum, rows);
            }
            if (sum != samples) {
                throw new IllegalArgumentException("lane_rows sum to " + sum + ", samples is " + samples);
            }
        }

        /** Returns the lengths of every epoch. */
        public EpochSize size() {
            return new EpochSize(samples, order.batchSize());
        }
    }

    /**
     * Describes what a session may do.
     *
     * @param run the run of the session
     * @param number the session's number, for logs
     * @param localFiles number of files that the server may announce at a time for local reads, at most the number in
     *     HELLO; 0 for no local reads
     * @param takesStats whether the client may send {@link Stats}; every server of this version sets it
     * @param follows whether each epoch of the stream has its own version
     * @param epoch if the stream follows its dataset: the only epoch of this session; empty if the client named none
     *     and may only look
     * @param readOnly whether the client must not send {@link Ack}, because its token permits only reading
     */
    public record SessionInfo(
            long run,
            long number,
            int localFiles,
            boolean takesStats,
            boolean follows,
            OptionalLong epoch,
            boolean readOnly) {
        public SessionInfo {
            Fields.natural("run", run);
            epoch.ifPresent(n -> Fields.u32("epoch", n));
        }

        /** Creates a session of a stream that does not follow its dataset, without local reads. */
        public SessionInfo(long run, long number) {
            this(run, number, 0, true, false, OptionalLong.empty(), false);
        }
    }

    /** Returns the same WELCOME with local reads of at most {@code files} files at a time. */
    public Welcome withLocalReads(int files) {
        return with(files, session.follows, session.epoch, session.readOnly);
    }

    /** Returns the same WELCOME for a stream that follows its dataset, for one epoch only, or for none. */
    public Welcome following(OptionalLong only) {
        return with(session.localFiles, true, only, session.readOnly);
    }

    /** Returns the same WELCOME for a client that must not acknowledge. */
    public Welcome forReadingOnly() {
        return with(session.localFiles, session.follows, session.epoch, true);
    }

    private Welcome with(int files, boolean follows, OptionalLong only, boolean readOnly) {
        SessionInfo changed =
                new SessionInfo(session.run, session.number, files, session.takesStats, follows, only, readOnly);
        return new Welcome(feed, stream, columns, pass, laneMap, changed);
    }

    /** Returns the lengths of every epoch. */
    public EpochSize size() {
        return pass.size();
    }

    @Override
    public FrameType type() {
        return FrameType.WELCOME;
    }
}

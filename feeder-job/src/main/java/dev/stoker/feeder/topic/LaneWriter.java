package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.feeder.topic.record.RecordMaker;
import dev.stoker.schemas.kafka.EpochCounts;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.LanePieces;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Creates the records of a lane in order, from any record on. For one thread. */
final class LaneWriter {
    /** A record with its number of rows, and the state of the lane after the record is written. */
    record Step(TopicRecord record, int rows, KafkaLane after) {}

    private final TopicEpochs contents;
    private final OptionalLong epochs;
    private KafkaLane state;
    private @Nullable EpochOrder epoch;
    private @Nullable LanePieces pieces;

    /**
     * @param state where to resume
     * @param epochs number of epochs after which the lane is done
     */
    LaneWriter(TopicEpochs contents, KafkaLane state, OptionalLong epochs) {
        this.contents = contents;
        this.state = state;
        this.epochs = epochs;
    }

    int lane() {
        return state.lane();
    }

    /** Returns the position of the next record. */
    RecordPosition at() {
        return state.next();
    }

    /** Returns the epoch of the next record. */
    long epoch() {
        return state.next().epoch();
    }

    /** Returns whether the last epoch is written. */
    boolean isDone() {
        return epochs.isPresent() && epoch() >= epochs.getAsLong();
    }

    /**
     * Returns whether a consumer may wait for the next record although the readers of its partition have not read the
     * records before it. This applies to the remaining parts of a piece. If ranks read each other's partitions, it also
     * applies to records after the rounds in which every lane takes part.
     */
    boolean isOwed() throws IOException {
        RecordPosition next = state.next();
        return switch (next.kind()) {
            case EPOCH_BEGIN -> false;
            case EPOCH_END -> true;
            case BATCH -> {
                openEpoch();
                yield next.part() > 0 || next.batch() >= order().numbering().evenBatches();
            }
        };
    }

    /** Returns the next record, or all remaining parts of the next piece. */
    List<Step> next() throws IOException {
        if (contents.follows() && state.version() == 0 && state.next().kind() != RecordKind.EPOCH_BEGIN) {
            throw new IOException("state of lane " + lane() + " stands at " + state.next()
                    + " of a feed of one version: resume without --follow");
        }
        TopicEpochs.Version version = openEpoch();
        TopicInfo info = contents.follows() ? version.info().in(epoch()) : version.info();
        return switch (state.next().kind()) {
            case EPOCH_BEGIN ->
                List.of(control(info, RecordKind.EPOCH_BEGIN, EpochCounts.NONE, from(pieces(), epoch(), 0)));
            case EPOCH_END ->
                List.of(control(info, RecordKind.EPOCH_END, state.counts(), RecordPosition.begin(epoch() + 1)));
            case BATCH -> piece(version.records());
        };
    }

    /** Opens the epoch of the next record. */
    private TopicEpochs.Version openEpoch() throws IOException {
        TopicEpochs.Version version = contents.of(epoch(), state.version());
        if (epoch == null || epoch.epoch() != epoch()) {
            epoch = version.order().epoch(epoch());
            pieces = new LanePieces(epoch.numbering(), lane());
        }
        return version;
    }

    private EpochOrder order() {
        return Objects.requireNonNull(epoch, "openEpoch() opens it");
    }

    private LanePieces pieces() {
        return Objects.requireNonNull(pieces, "openEpoch() opens it");
    }

    private KafkaLane after(RecordHeader record, RecordPosition following) {
        return state.after(record, following, contents.follows() ? record.version() : 0);
    }

    private Step control(TopicInfo info, RecordKind kind, EpochCounts counts, RecordPosition following) {
        RecordHeader header = RecordHeader.control(kind, info.fingerprint(), info.version(), epoch(), lane())
                .with(info.values().format(), 0);
        TopicRecord record = TopicRecord.of(header, info.value(lane(), pieces().count(), counts));
        state = after(header, following);
        return new Step(record, 0, state);
    }

    private List<Step> piece(RecordMaker records) throws IOException {
        long number = state.next().batch();
        long index = pieces().firstFrom(number);
        if (index == pieces().count() || pieces().number(index) != number) {
            throw new IOException("state of lane " + lane() + " stands at " + state.next()
                    + ", which the lane does not have: it belongs to other data or another order");
        }
        List<RecordMaker.Made> made = records.of(order(), lane(), number);
        List<Step> steps = new ArrayList<>();
        for (int part = state.next().part(); part < made.size(); part++) {
            RecordHeader header = made.get(part).header();
            state = after(header, following(header, pieces()));
            steps.add(new Step(made.get(part).record(), header.rows(), state));
        }
        return steps;
    }

    /** Returns the position after a record, for a lane with these pieces in the epoch of the record. */
    static RecordPosition following(RecordHeader record, LanePieces pieces) {
        return switch (record.kind()) {
            case EPOCH_BEGIN -> from(pieces, record.epoch(), 0);
            case EPOCH_END -> RecordPosition.begin(record.epoch() + 1);
            case BATCH ->
                record.part() + 1 < record.parts()
                        ? new RecordPosition(record.epoch(), RecordKind.BATCH, record.batch(), record.part() + 1)
                        : from(pieces, record.epoch(), pieces.firstFrom(record.batch() + 1));
        };
    }

    private static RecordPosition from(LanePieces pieces, long epoch, long index) {
        return index < pieces.count() ? RecordPosition.batch(epoch, pieces.number(index)) : RecordPosition.end(epoch);
    }
}

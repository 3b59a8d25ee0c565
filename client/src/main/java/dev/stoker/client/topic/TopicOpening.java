package dev.stoker.client.topic;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.OrderMismatchException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.RecordPosition;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.FieldInfo;
import dev.stoker.schemas.text.Units;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Reads the description of a topic's feed, and compares it with the client's settings. Waits for the feed's first
 * records.
 */
final class TopicOpening {
    private final TopicTarget target;
    private final ClientOptions options;
    private final TopicLog log;
    private final BooleanSupplier isClosed;
    private final long deadlineNs;

    TopicOpening(TopicTarget target, ClientOptions options, TopicLog log, BooleanSupplier isClosed) {
        this.target = target;
        this.options = options;
        this.log = log;
        this.isClosed = isClosed;
        this.deadlineNs = System.nanoTime() + options.connectTimeout().toNanos();
    }

    /** Returns the description from the control records. */
    TopicInfo read() {
        int partitions = log.partitions();
        while (partitions == 0) {
            require(
                    log.isAnswered()
                            ? "not there within " + millis() + log.trouble()
                                    + ". Is the feed running, and is the topic's name correct?"
                            : "no broker answers there within " + millis()
                                    + ". Check the address, that brokers run there, that their advertised.listeners"
                                    + " are reachable from here, and the security settings (STOKER_KAFKA_CONFIG)");
            partitions = log.partitions();
        }
        TopicInfo info;
        try {
            info = info(new TopicSearch(target, log, options.connectTimeout(), isClosed));
        } catch (BatchTimeoutException e) {
            throw new ConnectTimeoutException(ErrorText.of(e));
        }
        requireLanes(partitions, info);
        requireAsked(info);
        return info;
    }

    /** Refuses a topic whose number of partitions differs from the number of lanes. */
    void requireLanes(int partitions, TopicInfo info) {
        if (partitions != info.laneRows().size()) {
            throw new FeedException(target + " has " + Units.plural(partitions, "partition") + ", but its feed wrote "
                    + Units.plural(info.laneRows().size(), "lane") + ": the topic was changed; feed into a new one");
        }
    }

    private TopicInfo info(TopicSearch search) {
        Optional<VerifiedRecord> found = search.at(0, search.begin(0));
        while (found.isEmpty()) {
            require("no record yet after " + millis() + log.trouble() + ". Is the feed running?");
            found = search.at(0, search.begin(0));
        }
        TopicInfo first = described(search, found.get());
        return first.follows()
                ? search.last(0)
                        .map(record -> described(search, record))
                        .filter(TopicInfo::follows)
                        .orElse(first)
                : first;
    }

    /** Returns the description of a record's epoch. */
    private TopicInfo described(TopicSearch search, VerifiedRecord record) {
        return record.header().kind() == RecordKind.BATCH
                ? epoch(search, record.header().epoch()).orElseThrow()
                : read(record);
    }

    /**
     * Returns the description of an epoch; empty if it has not begun.
     *
     * @throws FeedException if the description no longer exists
     */
    Optional<TopicInfo> epoch(TopicSearch search, long epoch) {
        Optional<VerifiedRecord> oldest = search.at(0, search.begin(0));
        if (oldest.isEmpty()) {
            return Optional.empty();
        }
        boolean isWhole = oldest.get().position().compareTo(RecordPosition.begin(epoch)) <= 0;
        Optional<VerifiedRecord> found = search.find(
                        0, isWhole ? RecordPosition.begin(epoch) : RecordPosition.end(epoch))
                .record();
        if (found.isEmpty() && !isWhole) {
            throw new FeedException(target + ", partition 0: the beginning of epoch " + epoch
                    + " is no longer there, and its end is not written yet: " + TopicSearch.why(search.begin(0)));
        }
        return found.map(this::read);
    }

    private TopicInfo read(VerifiedRecord record) {
        String where = VerifiedRecord.where(target, 0, record.offset());
        try {
            TopicInfo info = TopicInfo.read(record.value(), where);
            if (!info.fingerprint().equals(record.header().fingerprint())) {
                throw new CorruptBatchException(where + ": headers and value name different fingerprints");
            }
            return info;
        } catch (CorruptDataException e) {
            throw new CorruptBatchException(ErrorText.of(e));
        } catch (FormatTooNewException e) {
            throw new FeedException(ErrorText.of(e), e);
        }
    }

    private void requireAsked(TopicInfo info) {
        options.stream().filter(name -> !name.equals(info.stream())).ifPresent(name -> {
            throw new StateMismatchException(target + " holds stream " + info.stream() + ", not " + name);
        });
        options.order().differences(info.order()).stream().findFirst().ifPresent(difference -> {
            throw new OrderMismatchException(
                    target + " was written with " + difference.key() + " " + difference.inForce() + ", asked for "
                            + difference.given() + ": leave it out, or feed into another topic");
        });
    }

    private void require(String late) {
        if (isClosed.getAsBoolean()) {
            throw new FeedException("the feed is closed");
        }
        if (System.nanoTime() - deadlineNs >= 0) {
            throw new ConnectTimeoutException(target + ": " + late);
        }
    }

    private String millis() {
        return options.connectTimeout().toMillis() + " ms";
    }

    /** Converts the description to a feeder's WELCOME. */
    static Welcome welcome(TopicInfo info, long run) {
        Welcome welcome = new Welcome(
                new Welcome.FeedName(info.feed(), info.feedName()),
                new Welcome.StreamName(info.stream(), info.dataset(), info.datasetName(), info.version(), info.split()),
                new Welcome.StreamColumns(
                        info.fields().stream()
                                .map(field -> new FieldInfo(
                                        field.name(), field.type().canonical(), field.nullable(), field.payload()))
                                .toList(),
                        info.classes()),
                new Welcome.PassInfo(
                        info.fingerprint(),
                        info.order(),
                        info.laneRows(),
                        info.size().samples(),
                        0,
                        info.epochs()),
                new LaneMap(0, 0, List.of(), List.of()),
                new Welcome.SessionInfo(run, 0));
        return info.follows() ? welcome.following(info.epoch()) : welcome;
    }
}

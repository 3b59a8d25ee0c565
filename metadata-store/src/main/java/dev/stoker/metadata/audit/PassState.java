package dev.stoker.metadata.audit;

import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Contains the ledger's data on one pass, except receipts. */
final class PassState {

    final PassKey key;
    final Source source;
    /** Streams by epoch if each has its own version, otherwise by 0. */
    private final NavigableMap<Long, AuditedStream> streams = new TreeMap<>();

    final NavigableMap<Long, EpochClaims> claims = new TreeMap<>();
    /** Number of receipts of each epoch. */
    final NavigableMap<Long, Long> receipts = new TreeMap<>();
    /** First epoch with an assigned number, by run. */
    final NavigableMap<Long, Long> firstEpochs = new TreeMap<>();

    private final Map<Consumer, Integer> numbers = new HashMap<>();
    /** Where the readers of each rank began or resumed. */
    private final Map<EpochClaims.Owner, Set<Beginning>> beginnings = new HashMap<>();

    /**
     * A consumer began to read an epoch at a number, and so asserts that it has consumed the numbers before.
     *
     * @param least the least position of its rank at which it can have begun there
     */
    private record Beginning(Consumer consumer, long epoch, long number, long least) {
        boolean isAfter(long otherEpoch, long otherNumber, long position) {
            return epoch > otherEpoch || (epoch == otherEpoch && position > otherNumber);
        }
    }

    /** The views that subscriptions name, by tag. */
    private final Map<Long, View> views = new HashMap<>();
    /** Numbers of view tags in receipts. */
    private final Map<Long, Integer> viewNumbers = new HashMap<>();

    private final List<Long> viewTags = new ArrayList<>();
    /** Last epoch with a receipt. A subscription does not count: trainers read ahead. */
    private final Map<Consumer, Long> lastEpochs = new HashMap<>();
    /** The same of each rank, by the number of workers among which it was divided. */
    private final Map<EpochClaims.Owner, Map<Integer, Long>> lastEpochsOfRanks = new HashMap<>();

    /** Consumers that requested nothing, by epoch and run. */
    private final Map<Long, NavigableMap<Long, Map<Consumer, Standing>>> standing = new HashMap<>();
    /** First epoch of which a consumer requested nothing, by run. */
    private final NavigableMap<Long, Long> firstStanding = new TreeMap<>();

    /**
     * A consumer that requested nothing of an epoch.
     *
     * @param least the least position at which its run can have begun
     */
    record Standing(Consumer consumer, long least, TailPolicy tail, SkippedBatches skipped) {
        private Standing with(Standing other) {
            return other.least < least ? other : this;
        }
    }

    /**
     * @param source the source that was read first; in a pass that follows its dataset, everything except the version
     *     applies to all epochs
     */
    PassState(PassKey key, Source source) {
        this.key = key;
        this.source = source;
    }

    /** Returns the stream that an epoch read. If no run began the epoch, returns the stream of the epoch before. */
    AuditedStream stream(long epoch) {
        Map.Entry<Long, AuditedStream> found = streams.floorEntry(epoch);
        return (found == null ? streams.firstEntry() : found).getValue();
    }

    /** Returns whether the epoch read this stream according to earlier records, or no record names it. */
    boolean reads(long epoch, AuditedStream stream) {
        return streams.computeIfAbsent(epoch, e -> stream).fingerprint().equals(stream.fingerprint());
    }

    /** Returns whether receipts belong to the stream that their epoch read. */
    boolean isOf(Receipts receipts) {
        return receipts.consumer()
                .fingerprint()
                .equals(stream(receipts.epoch()).fingerprint().text());
    }

    void claim(long epoch, AssignedSlots claim) {
        claims.computeIfAbsent(epoch, e -> new EpochClaims()).add(claim);
        firstEpochs.merge(claim.consumer().run(), epoch, Math::min);
        number(claim.consumer());
    }

    /** Records that the consumer acknowledged a batch of an epoch. */
    void acknowledged(Consumer consumer, long epoch) {
        number(consumer);
        lastEpochs.merge(consumer, epoch, Math::max);
        lastEpochsOfRanks
                .computeIfAbsent(rank(consumer), rank -> new HashMap<>())
                .merge(consumer.workers(), epoch, Math::max);
    }

    /**
     * Records that the consumer requested nothing of an epoch: its position was after the numbers before {@code first}.
     *
     * @param skipped the batches that it leaves out
     */
    void stood(Consumer consumer, long epoch, long first, TailPolicy tail, SkippedBatches skipped) {
        if (!skipped.isEmpty()) {
            claims.computeIfAbsent(epoch, e -> new EpochClaims()).skip(consumer, skipped);
        }
        long least = AssignedSlots.leastStart(consumer, skipped, skipped.slot(first));
        standing.computeIfAbsent(epoch, e -> new TreeMap<>())
                .computeIfAbsent(consumer.run(), r -> new HashMap<>())
                .merge(consumer, new Standing(consumer, least, tail, skipped), Standing::with);
        firstStanding.merge(consumer.run(), epoch, Math::min);
        number(consumer);
    }

    /** Records that a consumer began or resumed an epoch at a number. */
    void began(Consumer consumer, long epoch, long number, SkippedBatches skipped) {
        beginnings
                .computeIfAbsent(rank(consumer), rank -> new LinkedHashSet<>())
                .add(new Beginning(
                        consumer, epoch, number, AssignedSlots.leastStart(consumer, skipped, skipped.slot(number))));
    }

    private Map<Consumer, Long> standing(long epoch, long run) {
        Map<Consumer, Long> positions = new HashMap<>();
        standing.getOrDefault(epoch, Collections.emptyNavigableMap())
                .getOrDefault(run, Map.of())
                .forEach((consumer, stands) -> positions.put(consumer, stands.least));
        return positions;
    }

    /** Returns the consumer with the greatest position of the greatest run that requested nothing of an epoch. */
    Optional<Standing> newestStanding(long epoch) {
        return Optional.ofNullable(standing.get(epoch))
                .flatMap(runs ->
                        runs.lastEntry().getValue().values().stream().max(Comparator.comparingLong(Standing::least)));
    }

    int number(Consumer consumer) {
        return numbers.computeIfAbsent(consumer, c -> numbers.size());
    }

    /** Records that a subscription names these columns. */
    void sees(View view) {
        views.put(view.tag(), view);
    }

    /** Returns the number of a view's tag, for {@link #view}. */
    int viewNumber(long tag) {
        return viewNumbers.computeIfAbsent(tag, t -> {
            viewTags.add(t);
            return viewTags.size() - 1;
        });
    }

    long viewTag(int number) {
        return viewTags.get(number);
    }

    /** Returns the columns of a view that a subscription names; empty if none names it. */
    Optional<View> view(int number) {
        return Optional.ofNullable(views.get(viewTags.get(number)));
    }

    /**
     * Returns whether the consumer acknowledged a batch of a later epoch, or its rank did with another number of
     * workers. Other ranks and workers prove nothing: they can be faster.
     */
    boolean wentOn(Consumer consumer, long epoch) {
        return lastEpochs.getOrDefault(consumer, -1L) > epoch
                || lastEpochs(rank(consumer)).entrySet().stream()
                        .anyMatch(last -> last.getValue() > epoch && last.getKey() != consumer.workers());
    }

    Collection<Long> runs() {
        return firstEpochs.keySet();
    }

    /** Returns the consumers, by number. */
    Consumer[] consumers() {
        Consumer[] all = new Consumer[numbers.size()];
        numbers.forEach((consumer, number) -> all[number] = consumer);
        return all;
    }

    /** Returns whether any run later than this one began after a batch, which asserts that its trainers received it. */
    boolean isAsserted(long run, long epoch, long number) {
        for (Map.Entry<Long, Long> later : firstEpochs.tailMap(run, false).entrySet()) {
            long began = later.getValue();
            if (began > epoch
                    || (began == epoch
                            && Objects.requireNonNull(claims.get(epoch), "a run begins with a claim")
                                            .start(later.getKey(), standing(epoch, later.getKey()))
                                    > number)) {
                return true;
            }
        }
        // A run can begin where nothing is left for it, for example at a tail that it drops.
        return firstStanding.tailMap(run, false).entrySet().stream()
                .filter(later -> !firstEpochs.containsKey(later.getKey()))
                .anyMatch(later -> later.getValue() > epoch
                        || (later.getValue() == epoch
                                && standing(epoch, later.getKey()).values().stream()
                                        .anyMatch(position -> position > number)));
    }

    /** Returns whether any worker of a rank acknowledged a batch of a later epoch. */
    boolean wentOn(EpochClaims.Owner owner, long epoch) {
        return lastEpochs(owner).values().stream().anyMatch(last -> last > epoch);
    }

    private Map<Integer, Long> lastEpochs(EpochClaims.Owner rank) {
        return lastEpochsOfRanks.getOrDefault(rank, Map.of());
    }

    private static EpochClaims.Owner rank(Consumer consumer) {
        return new EpochClaims.Owner(consumer.run(), consumer.rank());
    }

    /**
     * Returns whether the consumer began or resumed its run after a batch, which asserts that it has consumed the
     * batch. Its process may have died with the receipt. Another number of workers of its rank asserts that, too.
     */
    boolean isResumedAfter(Consumer consumer, long epoch, long number) {
        return beginnings.getOrDefault(rank(consumer), Set.of()).stream()
                .anyMatch(begun -> begun.consumer().equals(consumer)
                        ? begun.isAfter(epoch, number, begun.number())
                        : begun.consumer().workers() != consumer.workers()
                                && begun.isAfter(epoch, number, begun.least()));
    }

    /** Returns whether any worker of a rank began or resumed its run after a batch. */
    boolean isResumedAfter(EpochClaims.Owner owner, long epoch, long number) {
        return beginnings.getOrDefault(owner, Set.of()).stream()
                .anyMatch(begun -> begun.isAfter(epoch, number, begun.least()));
    }

    /** Returns whether one run began before an epoch and has receipts of a later one. */
    boolean isPassedOver(long epoch) {
        return lastEpochs.entrySet().stream()
                .anyMatch(last -> last.getValue() > epoch
                        && firstEpochs.getOrDefault(last.getKey().run(), Long.MAX_VALUE) < epoch);
    }
}

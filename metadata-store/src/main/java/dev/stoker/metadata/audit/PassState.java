package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Contains the ledger's data on one pass, except receipts. */
final class PassState {

    final PassKey key;
    final Source source;
    /** By epoch where each has a version of its own, else by 0. */
    private final NavigableMap<Long, AuditedStream> streams = new TreeMap<>();

    final NavigableMap<Long, EpochClaims> claims = new TreeMap<>();
    /** How many receipts there are of each epoch. */
    final NavigableMap<Long, Long> receipts = new TreeMap<>();
    /** Every run, and the first epoch in which it was given something. */
    final NavigableMap<Long, Long> firstEpochs = new TreeMap<>();

    private final Map<Consumer, Integer> numbers = new HashMap<>();
    /** By number of the consumer: the last epoch it has a receipt of or subscribed to. */
    private final Map<Integer, Long> lastEpochs = new HashMap<>();

    /** By epoch and run: where consumers stood that asked for nothing. */
    private final Map<Long, Map<Long, Map<Consumer, Long>>> standing = new HashMap<>();

    /** @param source what was read first; of a pass that follows its dataset all else but the version holds for all */
    PassState(PassKey key, Source source) {
        this.key = key;
        this.source = source;
    }

    /** What an epoch read; of one that nobody began what the one before it did. */
    AuditedStream stream(long epoch) {
        Map.Entry<Long, AuditedStream> found = streams.floorEntry(epoch);
        return (found == null ? streams.firstEntry() : found).getValue();
    }

    /** Returns whether this is what the epoch read by what was said before, or nothing was said of it. */
    boolean reads(long epoch, AuditedStream stream) {
        return streams.computeIfAbsent(epoch, e -> stream).fingerprint().equals(stream.fingerprint());
    }

    /** Returns whether receipts are of what their epoch read. */
    boolean isOf(Receipts receipts) {
        return receipts.consumer()
                .fingerprint()
                .equals(stream(receipts.epoch()).fingerprint().text());
    }

    void claim(long epoch, Claim claim) {
        claims.computeIfAbsent(epoch, e -> new EpochClaims()).add(claim);
        firstEpochs.merge(claim.consumer().run(), epoch, Math::min);
        seen(claim.consumer(), epoch);
    }

    void seen(Consumer consumer, long epoch) {
        lastEpochs.merge(number(consumer), epoch, Math::max);
    }

    /** The consumer asked for nothing of an epoch: it stood behind the numbers before {@code first}. */
    void stood(Consumer consumer, long epoch, long first) {
        standing.computeIfAbsent(epoch, e -> new HashMap<>())
                .computeIfAbsent(consumer.run(), r -> new HashMap<>())
                .merge(consumer, Claim.leastStart(consumer, first), Math::min);
        seen(consumer, epoch);
    }

    private Map<Consumer, Long> standing(long epoch, long run) {
        return standing.getOrDefault(epoch, Map.of()).getOrDefault(run, Map.of());
    }

    int number(Consumer consumer) {
        return numbers.computeIfAbsent(consumer, c -> numbers.size());
    }

    /** Returns whether the consumer went on to a later epoch. */
    boolean leftBehind(Consumer consumer, long epoch) {
        return lastEpochs.getOrDefault(number(consumer), -1L) > epoch;
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

    /** Returns whether any run later than this one began behind a batch, which says that its trainers had it. */
    boolean isAsserted(long run, long epoch, long number) {
        for (Map.Entry<Long, Long> later : firstEpochs.tailMap(run, false).entrySet()) {
            long began = later.getValue();
            if (began > epoch
                    || (began == epoch
                            && claims.get(epoch).start(later.getKey(), standing(epoch, later.getKey())) > number)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether one run has something of an earlier and something of a later epoch. */
    boolean isPassedOver(long epoch) {
        for (long run : firstEpochs.keySet()) {
            if (firstEpochs.get(run) < epoch
                    && claims.tailMap(epoch, false).values().stream()
                            .anyMatch(c -> c.runs().contains(run))) {
                return true;
            }
        }
        return false;
    }
}

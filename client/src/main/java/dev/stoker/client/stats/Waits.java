package dev.stoker.client.stats;

import dev.stoker.schemas.protocol.Delay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Accounts a trainer's waits by cause, feeder and lane. Has a cost for each wait and report, but none for each sample.
 * Guarded by the client's lock.
 */
public final class Waits {
    public static final String START = "start";
    public static final String ORIGIN = "origin";
    public static final String DISK = "disk";
    public static final String NETWORK = "network";
    public static final String FEEDER = "feeder";
    public static final String CORRUPT = "corrupt";
    public static final String CONNECT = "connect";
    public static final String KAFKA = "kafka";

    /** Shorter waits are not explained: a feeder reports only pieces that took it a millisecond. */
    private static final long EXPLAINED_NS = 500_000;

    private static final int REMEMBERED = 256;

    /** A batch. */
    public record Name(long epoch, long number) {}

    private record Key(String cause, String feeder, int lane) {}

    /** The unexplained part of a finished wait, which may get another cause. */
    private record Waited(Key key, long ns) {}

    private record Cost(long diskNs, long originNs, long feederNs) {
        static Cost of(Delay delay) {
            return new Cost(delay.diskUs() * 1000, delay.originUs() * 1000, delay.feederUs() * 1000);
        }

        Cost and(Cost other) {
            return new Cost(diskNs + other.diskNs, originNs + other.originNs, feederNs + other.feederNs);
        }
    }

    private static final class Booked {
        private long ns;
        private long times;
    }

    private final Map<Key, Booked> stalls = new HashMap<>();
    private final Map<Name, Waited> recent = remembered();
    private final Map<Name, Cost> costs = remembered();

    private static <V> Map<Name, V> remembered() {
        return new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Name, V> eldest) {
                return size() > REMEMBERED;
            }
        };
    }

    /** Adds a finished wait. */
    public void add(String cause, String feeder, int lane, Name batch, long ns) {
        Key key = new Key(cause, feeder, lane);
        book(key, ns, 1);
        if (ns < EXPLAINED_NS || (!cause.equals(START) && !cause.equals(NETWORK))) {
            return;
        }
        Cost cost = costs.remove(batch);
        if (cost != null) {
            split(batch, new Waited(key, ns), cost);
        } else {
            recent.put(batch, new Waited(key, ns));
        }
    }

    /** Notes a feeder's time for a piece, whose wait may be finished or not yet added. */
    public void explain(Delay delay) {
        explain(new Name(delay.epoch(), delay.number()), Cost.of(delay));
    }

    /** Notes the time that a disk of this machine took for a piece that was read locally. */
    public void readFromDisk(Name batch, long ns) {
        explain(batch, new Cost(ns, 0, 0));
    }

    private void explain(Name batch, Cost cost) {
        Waited waited = recent.remove(batch);
        if (waited != null) {
            split(batch, waited, cost);
        } else {
            costs.merge(batch, cost, Cost::and);
        }
    }

    /** Assigns the last part of a wait, except for the network's share, to its actual causes. */
    private void split(Name batch, Waited waited, Cost cost) {
        Key key = waited.key;
        long left = waited.ns;
        String longest = "";
        long most = 0;
        Map<String, Long> shares = new LinkedHashMap<>();
        shares.put(DISK, cost.diskNs);
        shares.put(ORIGIN, cost.originNs);
        shares.put(FEEDER, cost.feederNs);
        for (Map.Entry<String, Long> share : shares.entrySet()) {
            long ns = Math.min(left, share.getValue());
            left -= ns;
            if (ns > 0) {
                book(new Key(share.getKey(), key.feeder, key.lane), ns, 0);
            }
            if (ns > most) {
                longest = share.getKey();
                most = ns;
            }
        }
        Booked booked = Objects.requireNonNull(stalls.get(key), "the wait was booked");
        booked.ns -= waited.ns - left;
        if (most > left && booked.times > 0) {
            booked.times--;
            book(new Key(longest, key.feeder, key.lane), 0, 1);
        }
        if (booked.ns <= 0 && booked.times < 1) {
            stalls.remove(key);
        } else if (left >= EXPLAINED_NS) {
            recent.put(batch, new Waited(key, left));
        }
    }

    private void book(Key key, long ns, long times) {
        Booked booked = stalls.computeIfAbsent(key, k -> new Booked());
        booked.ns += ns;
        booked.times += times;
    }

    /** The stalls, longest first. */
    public List<FeedStats.Stall> stalls() {
        List<FeedStats.Stall> found = new ArrayList<>();
        stalls.forEach((key, booked) -> found.add(
                new FeedStats.Stall(key.cause, key.feeder, key.lane, Duration.ofNanos(booked.ns), booked.times)));
        found.sort(Comparator.comparing(FeedStats.Stall::waited).reversed());
        return found;
    }

    /** The causes that took time, longest first. */
    public Map<String, Duration> causes() {
        Map<String, Duration> sums = new HashMap<>();
        stalls.forEach((key, booked) -> sums.merge(key.cause, Duration.ofNanos(booked.ns), Duration::plus));
        Map<String, Duration> sorted = new LinkedHashMap<>();
        sums.entrySet().stream()
                .filter(cause -> !cause.getValue().isZero())
                .sorted(Map.Entry.<String, Duration>comparingByValue().reversed())
                .forEach(cause -> sorted.put(cause.getKey(), cause.getValue()));
        return sorted;
    }
}

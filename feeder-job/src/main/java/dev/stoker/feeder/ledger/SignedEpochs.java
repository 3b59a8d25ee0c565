package dev.stoker.feeder.ledger;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Remembers the newest epoch of each pass whose delivery has a sign, and decides which ledger files need one. A file
 * needs one sign at most, however many groups and epochs it contains: the sign names the file, and the audit misses the
 * file. For one thread.
 */
final class SignedEpochs {

    /** Passes that deliver nothing for long are forgotten. If they return, the next file gets another sign. */
    static final int MAX_PASSES = 10_000;

    private final Map<String, Long> newest = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_PASSES;
        }
    };

    /** Returns the greatest epoch of the deliveries that needs a sign; empty if none does. */
    OptionalLong newest(Set<LedgerFile.Delivery> deliveries) {
        return deliveries.stream()
                .filter(delivery -> newest.getOrDefault(delivery.pass(), -1L) < delivery.epoch())
                .mapToLong(LedgerFile.Delivery::epoch)
                .max();
    }

    /** Notes that the deliveries of a file are signed. */
    void add(Set<LedgerFile.Delivery> deliveries) {
        deliveries.forEach(delivery -> newest.merge(delivery.pass(), delivery.epoch(), Math::max));
    }

    /** Returns the number of remembered passes. */
    int size() {
        return newest.size();
    }
}

package dev.stoker.ingest.pack;

import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.order.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Assigns samples to splits. Immutable; any thread. */
public final class Splits {

    /** Seed of the hash that assigns samples to splits. Frozen: a key must fall into the same split for ever. */
    private static final long SEED = 0x73706C6974L;

    private static final double UNIT = 0x1p-53;

    private final boolean byTopDirectory;
    private final List<String> names = new ArrayList<>();
    private final double[] ends;

    public Splits(SplitRule rule) {
        byTopDirectory = rule instanceof SplitRule.TopDirectory;
        Map<String, Double> shares = rule instanceof SplitRule.Shares given ? given.shares() : Map.of();
        ends = new double[shares.size()];
        double end = 0;
        for (Map.Entry<String, Double> share : shares.entrySet()) {
            end += share.getValue();
            ends[names.size()] = end;
            names.add(share.getKey());
        }
    }

    /** Whether keys that differ behind the last slash may have different splits. */
    public boolean areHashed() {
        return ends.length > 0;
    }

    /** The split of a key. */
    public String of(String key) {
        return byTopDirectory || areHashed() ? of(key.getBytes(StandardCharsets.UTF_8)) : SplitRule.DEFAULT;
    }

    /** The split of a key, given as UTF-8. */
    public String of(byte[] key) {
        if (byTopDirectory) {
            for (int i = 0; i < key.length; i++) {
                if (key[i] == '/') {
                    return new String(key, 0, i, StandardCharsets.UTF_8);
                }
            }
            return SplitRule.DEFAULT;
        }
        if (ends.length > 0) {
            double place = (KeyHash.hash(SEED, key) >>> 11) * UNIT;
            for (int i = 0; i < ends.length; i++) {
                if (place < ends[i]) {
                    return names.get(i);
                }
            }
        }
        return SplitRule.DEFAULT;
    }
}

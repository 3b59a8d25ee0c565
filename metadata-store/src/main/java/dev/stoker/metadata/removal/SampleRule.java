package dev.stoker.metadata.removal;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Selects samples of a version. If keys or prefixes are given, a sample is selected only if its key is one of the keys
 * or begins with one of the prefixes. If a split or a condition is given, it must also be in the split and satisfy the
 * condition.
 *
 * @param keys keys of single samples
 * @param prefixes beginnings of keys
 * @param split the only split that is read
 * @param condition makes the condition for one thread
 * @param missing what happens if no sample has one of the keys
 */
public record SampleRule(
        Set<String> keys,
        List<String> prefixes,
        Optional<String> split,
        Optional<Supplier<SampleCondition>> condition,
        MissingKeys missing) {

    /** Lists what can happen if no sample has a key. */
    public enum MissingKeys {
        /** Nothing is removed. */
        FAIL,
        /** The other samples are removed. */
        IGNORE
    }

    public SampleRule {
        keys = Set.copyOf(keys);
        prefixes = List.copyOf(prefixes);
        if (keys.isEmpty() && prefixes.isEmpty() && split.isEmpty() && condition.isEmpty()) {
            throw new IllegalArgumentException("A rule without keys, prefixes, split and condition selects all");
        }
    }

    /** Returns a rule for single samples, which must all exist. */
    public static SampleRule ofKeys(Iterable<String> keys) {
        Set<String> all = new LinkedHashSet<>();
        keys.forEach(all::add);
        return new SampleRule(all, List.of(), Optional.empty(), Optional.empty(), MissingKeys.FAIL);
    }

    /** Returns whether the rule names samples by their keys. */
    boolean hasKeys() {
        return !keys.isEmpty() || !prefixes.isEmpty();
    }

    /** Returns whether a key begins with one of the prefixes. */
    boolean hasPrefixOf(String key) {
        for (String prefix : prefixes) {
            if (key.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }
}

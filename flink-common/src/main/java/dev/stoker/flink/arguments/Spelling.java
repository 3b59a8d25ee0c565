package dev.stoker.flink.arguments;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import org.apache.commons.text.similarity.LevenshteinDistance;

/** Finds the name that a user meant. */
public final class Spelling {

    private Spelling() {}

    /** Returns whether a name may be a known one that is misspelled. */
    public static boolean isNear(String typed, String known) {
        return distance(typed, known) <= Math.max(2, typed.length() / 3);
    }

    /** Returns the known name that is most similar; empty if none is {@linkplain #isNear near}. */
    static Optional<String> nearest(String typed, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt(name -> distance(typed, name)))
                .filter(name -> isNear(typed, name));
    }

    private static int distance(String one, String other) {
        return LevenshteinDistance.getDefaultInstance().apply(one, other);
    }
}

package dev.stoker.flink.arguments;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.commons.text.similarity.LevenshteinDistance;

/** Finds the name that a user meant. */
public final class Spelling {

    /** Two hyphens and three letters. */
    private static final int SHORTEST = 5;

    private static final int MOST = 4;

    /** Two of three letters that differ make another name. */
    private static final int SHORT = 4;

    private Spelling() {}

    /** Returns whether a name may be a known one that is misspelled. */
    public static boolean isNear(String typed, String known) {
        return distance(typed, known) <= Math.max(typed.length() < SHORT ? 1 : 2, typed.length() / 3);
    }

    /** Returns at most three known names that are {@linkplain #isNear near}, the most similar first. */
    public static List<String> near(String typed, Collection<String> known) {
        return known.stream()
                .filter(name -> isNear(typed, name))
                .sorted(Comparator.<String>comparingInt(name -> distance(typed, name))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(3)
                .toList();
    }

    /** Returns the known name that is most similar; empty if none is {@linkplain #isNear near}. */
    static Optional<String> nearest(String typed, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt(name -> distance(typed, name)))
                .filter(name -> isNear(typed, name));
    }

    /**
     * Returns the known options that a user may have meant: those that begin with the typed one, whether it has the s
     * of a plural or not, or else the most similar one.
     */
    static List<String> meant(String typed, Collection<String> known) {
        String stem = typed.endsWith("s") ? typed.substring(0, typed.length() - 1) : typed;
        List<String> longer = known.stream()
                .filter(name -> stem.length() >= SHORTEST && (name.equals(stem) || name.startsWith(stem + "-")))
                .sorted()
                .limit(MOST)
                .toList();
        return longer.isEmpty() ? nearest(typed, known).stream().toList() : longer;
    }

    private static int distance(String one, String other) {
        return LevenshteinDistance.getDefaultInstance().apply(one, other);
    }
}

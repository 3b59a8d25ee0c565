package dev.stoker.metadata.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Draws samples, keys and values. */
final class Draws {

    private final Random random;
    private final Model model;
    private int number;
    private int images;

    Draws(Random random, Model model) {
        this.random = random;
        this.model = model;
    }

    /** New samples; some have keys that exist. */
    Map<String, Sample> newSamples() {
        Map<String, Sample> samples = new TreeMap<>();
        for (int n = 1 + random.nextInt(8); n > 0; n--) {
            // Some classes have few samples, so that an erasure erases their names too.
            String label = random.nextInt(6) == 0 ? "only" + number : "class" + random.nextInt(3);
            String key = label + "/k" + String.format("%03d", random.nextInt(5) == 0 ? random.nextInt(40) : number);
            number++;
            samples.put(
                    key,
                    new Sample(
                            random.nextInt(4) == 0 ? "val" : "train",
                            label,
                            Optional.empty(),
                            "image " + images++ + " of " + key));
            model.usedAgain(key);
        }
        return samples;
    }

    /** Keys of the newest version, and one that does not exist. */
    Set<String> someKeys(int count) {
        List<String> keys = new ArrayList<>(model.newest().keySet());
        Set<String> some = new TreeSet<>(Set.of("class0/absent"));
        for (int n = 0; n < count && !keys.isEmpty(); n++) {
            some.add(keys.get(random.nextInt(keys.size())));
        }
        return some;
    }

    /** Other classes of samples. */
    Map<String, String> newLabels() {
        Map<String, String> labels = new TreeMap<>();
        someKeys(1 + random.nextInt(5)).forEach(key -> {
            model.usedAgain(key);
            labels.put(key, random.nextBoolean() ? "class" + random.nextInt(3) : "new" + random.nextInt(20));
        });
        return labels;
    }

    /** Values of the field that versions add; empty for null. */
    Map<String, Optional<Long>> newScores() {
        Map<String, Optional<Long>> scores = new TreeMap<>();
        someKeys(1 + random.nextInt(5))
                .forEach(key -> scores.put(
                        key, random.nextInt(4) == 0 ? Optional.empty() : Optional.of((long) random.nextInt(100))));
        return scores;
    }
}

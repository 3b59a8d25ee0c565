package dev.stoker.schemas.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The rounds that once failed, which every run repeats first. The resource {@code known-seeds.txt} lists them, one a
 * line: {@code OrderModelTest.ordersLikeTheModel 123 17 # what it found}. Each module may have such a resource. A test
 * that draws its input in another way no longer repeats the failure, so delete its lines then.
 */
record KnownSeeds(List<Known> all) {
    static final String RESOURCE = "known-seeds.txt";

    /** A round that once failed. */
    record Known(String test, long seed, long round) {}

    /** Reads the resources of this name on the class path. */
    static KnownSeeds ofClassPath() {
        List<Known> all = new ArrayList<>();
        try {
            for (URL file : Collections.list(KnownSeeds.class.getClassLoader().getResources(RESOURCE))) {
                try (BufferedReader lines =
                        new BufferedReader(new InputStreamReader(file.openStream(), StandardCharsets.UTF_8))) {
                    all.addAll(parse(lines.lines().toList()).all());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new KnownSeeds(List.copyOf(all));
    }

    static KnownSeeds parse(List<String> lines) {
        List<Known> all = new ArrayList<>();
        for (String line : lines) {
            String content = line.replaceFirst("#.*", "").strip();
            if (content.isEmpty()) {
                continue;
            }
            String[] words = content.split("\\s+");
            try {
                all.add(new Known(words[0], Long.parseLong(words[1]), Long.parseLong(words[2])));
            } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
                throw new IllegalArgumentException(
                        RESOURCE + ": '" + line + "' is not: TEST SEED ROUND # what it found", e);
            }
        }
        return new KnownSeeds(List.copyOf(all));
    }

    List<Known> of(String test) {
        return all.stream().filter(known -> known.test().equals(test)).toList();
    }
}

package dev.stoker.feeder.source.enumerator;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * Places lanes by rendezvous hashing (Thaler and Ravishankar, 1998): every lane ranks all hosts by a hash of (host,
 * lane) and takes the best one that still has room. A host that goes moves only its own lanes. Each reader takes at
 * most its fair share, rounded up, so that no host serves much more than another.
 */
final class LaneAssigner {

    private LaneAssigner() {}

    /**
     * Chooses a reader for every lane.
     *
     * @param lanes ids of the lanes to place, in a fixed order
     * @param hostOfReader host of every reader that may be chosen
     * @param owned how many lanes each reader has already
     * @return the chosen reader of each lane
     */
    static Map<String, Integer> assign(
            List<String> lanes, Map<Integer, String> hostOfReader, Map<Integer, Integer> owned) {
        if (hostOfReader.isEmpty()) {
            throw new IllegalArgumentException("no reader to place lanes on");
        }
        int total = lanes.size()
                + owned.values().stream().mapToInt(Integer::intValue).sum();
        int share = (total + hostOfReader.size() - 1) / hostOfReader.size();
        Map<Integer, Integer> load = new TreeMap<>(owned);
        Map<String, Integer> chosen = new TreeMap<>();
        for (String lane : lanes) {
            List<Integer> readers = preference(lane, hostOfReader);
            int reader = readers.stream()
                    .filter(r -> load.getOrDefault(r, 0) < share)
                    .findFirst()
                    .orElse(readers.get(0));
            load.merge(reader, 1, Integer::sum);
            chosen.put(lane, reader);
        }
        return chosen;
    }

    /** Ranks readers for a lane, best first; readers of one host follow each other by number. */
    static List<Integer> preference(String lane, Map<Integer, String> hostOfReader) {
        List<Integer> readers = new ArrayList<>(hostOfReader.keySet());
        readers.sort(Comparator.<Integer>comparingLong(
                        reader -> score(lane, Objects.requireNonNull(hostOfReader.get(reader))))
                .reversed()
                .thenComparing(reader -> -score(lane, "reader " + reader))
                .thenComparing(Comparator.naturalOrder()));
        return readers;
    }

    private static long score(String lane, String host) {
        CRC32C crc = new CRC32C();
        crc.update((host + '\n' + lane).getBytes(StandardCharsets.UTF_8));
        // A CRC of similar strings is itself similar; the finalizer of SplitMix64 spreads it.
        long z = crc.getValue() * 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return (z ^ (z >>> 31)) >>> 1;
    }
}

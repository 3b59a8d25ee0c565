package dev.stoker.connectors.files;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which reader lists which directory, and when the walk is over. Depth first: the directories found last are listed first, so
 * that few are pending. For one thread.
 */
final class DirectoryAssigner {

    private final Deque<DirectorySplit> pending = new ArrayDeque<>();
    private final Set<String> relisted = new HashSet<>();
    private final Map<Integer, Map<String, DirectorySplit>> assigned = new HashMap<>();
    /** Sub-directories found so far in directories that are reported in parts. */
    private final Map<String, List<DirectorySplit>> partly = new HashMap<>();

    private final int perReader;

    /** A fresh walk. */
    DirectoryAssigner(int perReader) {
        this(perReader, new WalkState(List.of(DirectorySplit.ROOT), Set.of()));
    }

    DirectoryAssigner(int perReader, WalkState state) {
        this.perReader = perReader;
        pending.addAll(state.pending());
        relisted.addAll(state.relisted());
    }

    /** Takes the next directories for a reader, as many as it has room for. */
    List<DirectorySplit> take(int reader) {
        Map<String, DirectorySplit> own = assigned.computeIfAbsent(reader, r -> new HashMap<>());
        List<DirectorySplit> taken = new ArrayList<>();
        while (own.size() < perReader && !pending.isEmpty()) {
            DirectorySplit split = pending.pop();
            own.put(split.path(), split);
            taken.add(split);
        }
        return taken;
    }

    /** A reader has listed a directory, or a part of one. Its sub-directories are pending once all of them are known. */
    void listed(int reader, WalkEvent.Part part) {
        Map<String, DirectorySplit> own = assigned.get(reader);
        if (own == null || !own.containsKey(part.path())) {
            // A reader that was taken for dead: another reader lists its directories now.
            return;
        }
        List<DirectorySplit> found = partly.computeIfAbsent(part.path(), path -> new ArrayList<>());
        found.addAll(part.found());
        if (!part.isLast()) {
            return;
        }
        own.remove(part.path());
        partly.remove(part.path());
        if (relisted.remove(part.path())) {
            return;
        }
        for (int i = found.size() - 1; i >= 0; i--) {
            pending.push(found.get(i));
        }
    }

    /**
     * A reader was lost with all that it had put out: whatever it was ever assigned is listed again. Sub-directories that it
     * had handed back are known already and stay where they are.
     */
    void lost(int reader, List<DirectorySplit> splits) {
        Map<String, DirectorySplit> unfinished = assigned.getOrDefault(reader, Map.of());
        assigned.remove(reader);
        partly.keySet().removeAll(unfinished.keySet());
        for (DirectorySplit split : splits) {
            if (!unfinished.containsKey(split.path())) {
                relisted.add(split.path());
            }
            pending.push(split);
        }
    }

    /** Nothing is pending or being listed. */
    boolean isDone() {
        return pending.isEmpty() && assigned.values().stream().allMatch(Map::isEmpty);
    }

    WalkState state() {
        return new WalkState(List.copyOf(pending), relisted);
    }
}

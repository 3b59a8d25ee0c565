package dev.stoker.connectors.files.source.enumerator;

import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Assigns directories to readers and detects the end of the walk. Depth first: the directories found last are listed
 * first, so that few are pending. For one thread.
 */
public final class DirectoryAssigner {

    private final Deque<DirectorySplit> pending = new ArrayDeque<>();
    private final Set<String> relisted = new HashSet<>();
    private final Map<Integer, Map<String, DirectorySplit>> assigned = new HashMap<>();
    /** Sub-directories found so far in directories that are reported in parts. */
    private final Map<String, List<DirectorySplit>> partly = new HashMap<>();

    private final int perReader;

    /** Starts a new walk. */
    DirectoryAssigner(int perReader) {
        this(perReader, new FileTreeState(List.of(DirectorySplit.ROOT), Set.of()));
    }

    DirectoryAssigner(int perReader, FileTreeState state) {
        this.perReader = perReader;
        pending.addAll(state.pending());
        relisted.addAll(state.relisted());
    }

    /** Takes the next directories for a reader, up to its free capacity. */
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

    /**
     * Notes that a reader has listed a directory or a part of one. Its sub-directories become pending once all of them
     * are known.
     */
    void listed(int reader, WalkEvent.Part part) {
        Map<String, DirectorySplit> own = assigned.get(reader);
        if (own == null || !own.containsKey(part.path())) {
            // The reader was considered dead: another reader lists its directories now.
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
     * Handles the loss of a reader and its output: every directory that was ever assigned to it is listed again. The
     * sub-directories that it had reported are known already and stay assigned.
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

    /** Whether no directory is pending or being listed. */
    boolean isDone() {
        return pending.isEmpty() && assigned.values().stream().allMatch(Map::isEmpty);
    }

    FileTreeState state() {
        return new FileTreeState(List.copyOf(pending), relisted);
    }
}

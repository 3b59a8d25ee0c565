package dev.stoker.connectors.files.source.enumerator;

import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.util.List;
import java.util.Set;

/**
 * The state of an enumerator, besides the directories that Flink itself remembers as assigned.
 *
 * @param pending directories to list
 * @param relisted directories that are pending again although their sub-directories are known
 */
public record FileTreeState(List<DirectorySplit> pending, Set<String> relisted) {
    public FileTreeState {
        pending = List.copyOf(pending);
        relisted = Set.copyOf(relisted);
    }
}

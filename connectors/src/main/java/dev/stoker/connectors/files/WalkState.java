package dev.stoker.connectors.files;

import java.util.List;
import java.util.Set;

/**
 * What an enumerator knows besides the directories that Flink itself remembers as assigned.
 *
 * @param pending to be listed
 * @param relisted directories that are pending again although their sub-directories are known
 */
record WalkState(List<DirectorySplit> pending, Set<String> relisted) {
    WalkState {
        pending = List.copyOf(pending);
        relisted = Set.copyOf(relisted);
    }
}

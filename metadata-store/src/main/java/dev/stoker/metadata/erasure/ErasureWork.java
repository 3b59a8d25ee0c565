package dev.stoker.metadata.erasure;

import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.index.build.BuildThreads;
import java.time.InstantSource;
import java.util.function.IntConsumer;

/**
 * What an erasure may use.
 *
 * @param rules size of the chunks that it writes
 * @param compaction parallelism of the rewriting
 * @param index parallelism of the index build
 * @param clock tells the time
 * @param by user and host, for people
 * @param progress receives 1 for each chunk that was read, from any thread
 */
public record ErasureWork(
        CompactionRules rules,
        CompactionThreads compaction,
        BuildThreads index,
        InstantSource clock,
        String by,
        IntConsumer progress) {

    int reads() {
        return compaction.reads();
    }
}

package dev.stoker.bench.feed;

import java.time.Duration;
import java.util.Optional;

/** User and system time of whole processes, with the threads of the virtual machine. */
final class CpuTime {

    private CpuTime() {}

    static double ofThisProcess() {
        return of(Optional.of(ProcessHandle.current()));
    }

    /** Returns seconds; 0 for no process, or one whose time is unknown. */
    static double of(Optional<ProcessHandle> process) {
        return process.flatMap(known -> known.info().totalCpuDuration())
                .map(Duration::toNanos)
                .map(nanos -> nanos / 1e9)
                .orElse(0.0);
    }
}

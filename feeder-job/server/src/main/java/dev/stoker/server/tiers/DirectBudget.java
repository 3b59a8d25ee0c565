package dev.stoker.server.tiers;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How much memory outside the heap this process may still take.
 *
 * @param directBytes what the JVM may still hand out as direct buffers
 * @param machineBytes what the machine, or the container around the process, has left beside the heap that the JVM may
 *     still take
 */
public record DirectBudget(long directBytes, long machineBytes) {
    /** For buffers of sessions and of the platform. */
    private static final long SLACK = 64L << 20;

    /** What this process finds, once the memory of feeders that were killed is given back. */
    public static DirectBudget here() {
        MemorySpace.removeLeft(MemorySpace.TMPFS);
        long used = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return new DirectBudget(Math.max(0, limit() - used - SLACK), Math.max(0, machine()));
    }

    private static long limit() {
        try {
            HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            long set = Long.parseLong(vm.getVMOption("MaxDirectMemorySize").getValue());
            return set > 0 ? set : Runtime.getRuntime().maxMemory();
        } catch (RuntimeException e) {
            // Another kind of JVM; its default is that of all.
            return Runtime.getRuntime().maxMemory();
        }
    }

    /** The least of what the kernel calls available and what the groups of the process leave. */
    private static long machine() {
        long available = Long.MAX_VALUE;
        for (String line : lines("/proc/meminfo")) {
            if (line.startsWith("MemAvailable:")) {
                available = Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        long heapToCome =
                Runtime.getRuntime().maxMemory() - Runtime.getRuntime().totalMemory();
        return Math.min(available, group()) - heapToCome;
    }

    private static long group() {
        long limit = number("/sys/fs/cgroup/memory.max");
        if (limit == Long.MAX_VALUE) {
            return limit;
        }
        long cached = 0;
        for (String line : lines("/sys/fs/cgroup/memory.stat")) {
            if (line.startsWith("inactive_file ")) {
                cached =
                        Long.parseLong(line.substring("inactive_file ".length()).strip());
            }
        }
        return limit - number("/sys/fs/cgroup/memory.current") + cached;
    }

    private static long number(String file) {
        List<String> lines = lines(file);
        return lines.isEmpty() || !lines.get(0).matches("\\d{1,18}") ? Long.MAX_VALUE : Long.parseLong(lines.get(0));
    }

    private static List<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file));
        } catch (IOException | RuntimeException e) {
            return List.of();
        }
    }

    /**
     * What {@code memory:auto} comes to beside so much working memory: half of what the machine has, if the JVM may.
     */
    public long auto(long workingBytes) {
        return Math.max(0, Math.min(directBytes, machineBytes / 2) - workingBytes);
    }

    /** As {@link #auto}, for chunks that lie in files of a tmpfs, of which the JVM knows nothing. */
    long autoFiles(long workingBytes) {
        return Math.max(0, machineBytes / 2 - workingBytes);
    }

    /**
     * Refuses what does not fit.
     *
     * @param workingBytes limit of working memory
     * @param tierBytes quota of a memory tier that lies in direct memory
     * @param fileBytes quota of one that lies in files
     * @throws InsufficientMemoryException naming the setting that helps
     */
    void require(long workingBytes, long tierBytes, long fileBytes) throws InsufficientMemoryException {
        long needed = workingBytes + tierBytes;
        long all = needed + fileBytes;
        if (all > machineBytes) {
            throw new InsufficientMemoryException("chunks that are not mapped need " + Units.mebibytes(all) + " MiB of "
                    + (fileBytes > 0 ? "memory (" : "direct memory (") + Units.mebibytes(workingBytes)
                    + " MiB to work with, " + Units.mebibytes(tierBytes + fileBytes)
                    + " MiB for the memory tier), but the machine or container has " + Units.mebibytes(machineBytes)
                    + " MiB left beside the heap that Java may still take: give a smaller --tier memory:… or"
                    + " --working-memory, a smaller heap with -Xmx, or more memory");
        }
        if (needed > directBytes) {
            String what = "chunks that are not mapped need " + Units.mebibytes(needed) + " MiB of direct memory ("
                    + Units.mebibytes(workingBytes) + " MiB to work with, " + Units.mebibytes(tierBytes)
                    + " MiB for the memory tier)";
            throw new InsufficientMemoryException(what + ", but the JVM can allocate only "
                    + Units.mebibytes(directBytes)
                    + " MiB more: on a cluster set taskmanager.memory.task.off-heap.size to "
                    + Units.mebibytes(needed + SLACK) + "m, elsewhere -XX:MaxDirectMemorySize="
                    + Units.mebibytes(needed + SLACK) + "m, or give a smaller --tier memory:… or --working-memory");
        }
    }
}

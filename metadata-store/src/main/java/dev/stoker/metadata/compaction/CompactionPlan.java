package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.schemas.table.ChunkTable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The plan of a compaction, derived only from a version's chunk table: the same version and rules give the same plan.
 */
public final class CompactionPlan {

    private final ChunkTable table;
    private final CompactionRules rules;
    private final List<ChunkGroup> groups;

    private CompactionPlan(ChunkTable table, CompactionRules rules, List<ChunkGroup> groups) {
        this.table = table;
        this.rules = rules;
        this.groups = groups;
    }

    /**
     * The plan for one split.
     *
     * @param split its name
     * @param chunks live chunks that are kept unchanged
     * @param sources chunks that are rewritten
     * @param samples in these chunks
     * @param removedRows removed rows in these chunks, which are left out
     * @param bytes of these chunks' files
     * @param targets the approximate number of resulting chunks
     */
    public record Split(
            String split, int chunks, int sources, long samples, long removedRows, long bytes, int targets) {}

    /** The plan for a version. */
    public static CompactionPlan of(Snapshot snapshot, CompactionRules rules) {
        List<ChunkGroup> groups = new ArrayList<>();
        for (String split : snapshot.splits()) {
            List<ReplacedChunk> small = new ArrayList<>();
            for (int i = 0; i < snapshot.table().size(); i++) {
                if (snapshot.table().isLive(i) && snapshot.table().split(i).equals(split)) {
                    ReplacedChunk chunk = ReplacedChunk.of(snapshot.table(), i);
                    if ((chunk.liveBytes() < rules.belowBytes() || chunk.isSparse())
                            && chunk.summary().length() <= rules.groupBytes()) {
                        small.add(chunk);
                    }
                }
            }
            rules.shuffleSeed().ifPresent(seed -> small.sort(mixed(seed)));
            cut(split, small, rules, ChunkGroup.Need.IMPROVEMENT).stream()
                    .filter(group -> group.isWorth(group.targets(rules.chunkSizeBytes())))
                    .forEach(groups::add);
        }
        return new CompactionPlan(snapshot.table(), rules, List.copyOf(groups));
    }

    /**
     * The plan that rewrites exactly these chunks, whatever their size, so that no later version has their files.
     *
     * @param ordinals ordinals of live chunks
     */
    public static CompactionPlan ofChunks(Snapshot snapshot, Set<Long> ordinals, CompactionRules rules) {
        List<ChunkGroup> groups = new ArrayList<>();
        for (String split : snapshot.splits()) {
            List<ReplacedChunk> chunks = new ArrayList<>();
            for (int i = 0; i < snapshot.table().size(); i++) {
                if (snapshot.table().isLive(i)
                        && snapshot.table().split(i).equals(split)
                        && ordinals.contains(snapshot.table().ordinal(i))) {
                    chunks.add(ReplacedChunk.of(snapshot.table(), i));
                }
            }
            groups.addAll(cut(split, chunks, rules, ChunkGroup.Need.ALWAYS));
        }
        return new CompactionPlan(snapshot.table(), rules, List.copyOf(groups));
    }

    /** The plan with these groups, which were planned for the same version. */
    static CompactionPlan ofGroups(Snapshot snapshot, List<ChunkGroup> groups, CompactionRules rules) {
        return new CompactionPlan(snapshot.table(), rules, List.copyOf(groups));
    }

    /** Mixes chunks of all ages. */
    private static Comparator<ReplacedChunk> mixed(long seed) {
        return (a, b) -> Long.compareUnsigned(
                hash(seed, a.summary().id()), hash(seed, b.summary().id()));
    }

    private static long hash(long seed, UUID id) {
        byte[] bytes = ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        return KeyHash.hash(seed, bytes);
    }

    /** Cuts the chunks into as few groups of similar size as the limit allows. */
    private static List<ChunkGroup> cut(
            String split, List<ReplacedChunk> chunks, CompactionRules rules, ChunkGroup.Need need) {
        long total =
                chunks.stream().mapToLong(chunk -> chunk.summary().length()).sum();
        long count = (total + rules.groupBytes() - 1) / rules.groupBytes();
        List<ChunkGroup> groups = new ArrayList<>();
        List<ReplacedChunk> open = new ArrayList<>();
        long bytes = 0;
        long done = 0;
        for (ReplacedChunk chunk : chunks) {
            long length = chunk.summary().length();
            boolean isShareFull = (double) done * count / total >= groups.size() + 1;
            if (!open.isEmpty() && (isShareFull || bytes + length > rules.groupBytes())) {
                groups.add(new ChunkGroup(split, open, need));
                open.clear();
                bytes = 0;
            }
            open.add(chunk);
            bytes += length;
            done += length;
        }
        if (!open.isEmpty()) {
            groups.add(new ChunkGroup(split, open, need));
        }
        return groups;
    }

    /**
     * The groups of which no chunk has changed up to a version.
     *
     * @throws CompactionFailedException if there was a group, and all have changed
     */
    CompactionPlan unchangedIn(Snapshot newest) throws CompactionFailedException {
        List<ChunkGroup> unchanged = groups.stream()
                .filter(group -> group.sources().stream().allMatch(source -> source.isUnchanged(newest.table())))
                .toList();
        if (unchanged.isEmpty() && !groups.isEmpty()) {
            throw CompactionFailedException.overtaken(newest.version());
        }
        return new CompactionPlan(table, rules, unchanged);
    }

    /** Whether there is nothing to do. */
    public boolean isEmpty() {
        return groups.isEmpty();
    }

    /** The version that the plan is for. */
    public long version() {
        return table.version();
    }

    /** Chunks that are rewritten. */
    public int sources() {
        return groups.stream().mapToInt(group -> group.sources().size()).sum();
    }

    /** Bytes that are read. */
    public long bytes() {
        return groups.stream().mapToLong(ChunkGroup::bytes).sum();
    }

    /** The splits with rewritten chunks. */
    public List<Split> splits() {
        List<Split> splits = new ArrayList<>();
        for (String split : table.splits()) {
            List<ChunkGroup> own =
                    groups.stream().filter(group -> group.split().equals(split)).toList();
            if (!own.isEmpty()) {
                splits.add(split(split, own));
            }
        }
        return splits;
    }

    private Split split(String split, List<ChunkGroup> own) {
        int live = 0;
        for (int i = 0; i < table.size(); i++) {
            live += table.isLive(i) && table.split(i).equals(split) ? 1 : 0;
        }
        List<ReplacedChunk> sources =
                own.stream().flatMap(group -> group.sources().stream()).toList();
        long rows =
                sources.stream().mapToLong(source -> source.summary().rows()).sum();
        long samples = sources.stream().mapToLong(ReplacedChunk::liveRows).sum();
        return new Split(
                split,
                live - sources.size(),
                sources.size(),
                samples,
                rows - samples,
                own.stream().mapToLong(ChunkGroup::bytes).sum(),
                own.stream()
                        .mapToInt(group -> group.targets(rules.chunkSizeBytes()))
                        .sum());
    }

    /** Bytes of the files of the longest group; 0 if there is none. */
    int longestGroup() {
        return (int) groups.stream().mapToLong(ChunkGroup::bytes).max().orElse(0);
    }

    ChunkTable table() {
        return table;
    }

    CompactionRules rules() {
        return rules;
    }

    List<ChunkGroup> groups() {
        return groups;
    }
}

package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The files of a dataset that no version has, and the writers that they may belong to. Chunks are listed first, leases
 * are read second, and the log last, as garbage collection does.
 *
 * @param chunks chunk files
 * @param unfinished unfinished files of writers that existed before the leases were read
 * @param writers leases of other writers that may still commit, by ingest
 */
record LooseFiles(List<Orphan> chunks, List<Orphan> unfinished, Map<String, Lease> writers) {

    LooseFiles {
        chunks = List.copyOf(chunks);
        unfinished = List.copyOf(unfinished);
    }

    /** @param erasure id of the erasure, whose own compactions do not count as writers */
    static LooseFiles list(Dataset dataset, String erasure, InstantSource clock) throws IOException {
        List<Orphan> first = Orphans.find(dataset, clock);
        Set<String> listed = first.stream().map(Orphan::name).collect(Collectors.toSet());
        Map<String, Lease> writers = new TreeMap<>(new Leases(dataset).all());
        VersionCommitter committer = new VersionCommitter(dataset, clock, "");
        for (String ingest : List.copyOf(writers.keySet())) {
            if (isOwn(ingest, erasure) || committer.has(ingest)) {
                writers.remove(ingest);
            }
        }
        List<Orphan> chunks = new ArrayList<>();
        // The second search reads the log after the leases.
        for (Orphan orphan : Orphans.find(dataset, clock)) {
            if (listed.contains(orphan.name()) && ChunkNames.idOf(orphan.name()).isPresent()) {
                chunks.add(orphan);
            }
        }
        List<Orphan> unfinished = first.stream().filter(Orphan::unfinished).toList();
        return new LooseFiles(chunks, unfinished, writers);
    }

    static boolean isOwn(String ingest, String erasure) {
        return ingest.startsWith(VersionRequest.COMPACTION + erasure + "-");
    }

    /** Returns the summaries of the intact chunks. Reads every byte of them. */
    List<ChunkSummary> summaries(ObjectStore store) throws IOException {
        List<ChunkSummary> summaries = new ArrayList<>();
        for (Orphan chunk : chunks) {
            try {
                summaries.add(ChunkReader.verify(new ObjectRangeReader(store, chunk.name())));
            } catch (NoSuchObjectException e) {
                // Its writer has deleted it.
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                // A damaged file may contain any sample; see holding().
            }
        }
        return summaries;
    }

    /**
     * A chunk file that may contain erased samples.
     *
     * @param file the file
     * @param ingest the ingest that wrote it; empty if the file is damaged
     */
    record Holder(Orphan file, String ingest) {}

    /** Returns the chunks that contain samples with erased keys, or are damaged. */
    List<Holder> holding(ObjectStore store, KeyTest test) throws IOException {
        List<Holder> holding = new ArrayList<>();
        for (Orphan chunk : chunks) {
            try {
                ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, chunk.name()));
                if (ErasedRows.rows(head.keys(), test).length > 0) {
                    holding.add(new Holder(chunk, head.identity().ingest()));
                }
            } catch (NoSuchObjectException e) {
                // Its writer has deleted it.
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                holding.add(new Holder(chunk, ""));
            }
        }
        return holding;
    }

    /** Returns the reasons why these files cannot be deleted now, one line each. */
    List<String> blockers(String where, List<Holder> holding) {
        List<String> blockers = new ArrayList<>();
        writers.forEach((ingest, lease) -> {
            if (ingest.startsWith(VersionRequest.COMPACTION)) {
                blockers.add("compaction " + ingest + " of " + lease.by() + " may be copying the samples; "
                        + nextStep(where, ingest));
            }
        });
        Set<String> named = new TreeSet<>();
        for (Holder holder : holding) {
            if (holder.ingest.isEmpty() && !writers.isEmpty()) {
                String ingest = writers.keySet().iterator().next();
                blockers.add("the damaged file " + holder.file.name() + " may belong to the running ingest " + ingest
                        + "; " + nextStep(where, ingest));
            } else if (writers.containsKey(holder.ingest) && named.add(holder.ingest)) {
                blockers.add("the running ingest " + holder.ingest + " of "
                        + writers.get(holder.ingest).by() + " has packed samples with the same keys; "
                        + nextStep(where, holder.ingest));
            }
        }
        return blockers;
    }

    private static String nextStep(String where, String ingest) {
        return "wait for it, or if it has died: stoker gc " + ShellText.word(where) + " --break " + ingest + " --yes";
    }
}

package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.ingest.spec.SplitRule;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The valid options of an ingest. {@link #parse} creates them from arguments.
 *
 * @param source the samples' location: an absolute path or a URI
 * @param target the dataset's location: an absolute path or a URI
 * @param name of a new dataset
 * @param content the fields of the samples
 * @param splitRule assigns samples to splits; empty for the dataset's own rule, or all into {@code train}
 * @param order of the samples in the chunks
 * @param effect on the samples that the dataset has
 * @param onDuplicate decides about keys that occur twice or that the dataset already has
 * @param ingestId of an interrupted ingest to resume
 * @param walk which files of the tree are samples
 * @param work parallelism and sizes
 * @param run whether anything is written
 */
public record IngestOptions(
        String source,
        String target,
        String name,
        Content content,
        Optional<SplitRule> splitRule,
        WalkOrder order,
        IngestRun.Effect effect,
        OnDuplicate onDuplicate,
        Optional<String> ingestId,
        Walk walk,
        Work work,
        Run run) {

    /** Whether anything is written. */
    public enum Run {
        REAL,
        /** Only show the plan. */
        DRY
    }

    /**
     * The fields of the samples.
     *
     * @param field name of the field of a file's bytes; by default from the kind of the files
     * @param type of that field, canonical; by default from the kind of the files
     * @param label the source of the class
     * @param labelField name of the class's field
     * @param sidecars further fields from files beside the samples
     * @param payload names of the payload fields; by default the large ones
     */
    public record Content(
            Optional<String> field,
            Optional<String> type,
            Optional<LabelRule> label,
            String labelField,
            List<Sidecar> sidecars,
            Optional<List<String>> payload) {
        public Content {
            sidecars = List.copyOf(sidecars);
            payload = payload.map(List::copyOf);
        }
    }

    /**
     * The rules that select samples in the tree.
     *
     * @param hidden files whose names start with a dot
     * @param links symbolic links
     * @param empty files of no bytes
     * @param errors entries that cannot be read
     * @param names names of files
     * @param choice whether the user asks for one sample for each file, or the source seemed to be one of files
     * @param limit take only this number of samples, the first ones
     */
    public record Walk(
            FileTree.Hidden hidden,
            FileTree.Links links,
            FileTree.Empty empty,
            FileTree.Errors errors,
            NameFilter names,
            Choice choice,
            OptionalLong limit) {}

    /** Who decided that each file becomes a sample. */
    public enum Choice {
        GIVEN,
        DETECTED
    }

    /**
     * Parallelism and sizes.
     *
     * @param chunkSizeBytes length of a chunk; by default the dataset's, or 8 MiB
     * @param parallelism subtasks; by default Flink's configured parallelism
     * @param readThreads chunks that each subtask processes at a time
     * @param readAhead files of a source on another file system that each subtask reads at a time
     */
    public record Work(OptionalInt chunkSizeBytes, OptionalInt parallelism, int readThreads, int readAhead) {}

    /** The tree to walk. */
    IngestTarget into(DatasetStore stores) {
        return new IngestTarget(target, stores, effect);
    }

    FileTree tree() {
        return new FileTree(
                source,
                walk.hidden(),
                walk.links(),
                walk.empty(),
                walk.errors(),
                content.sidecars().stream().map(Sidecar::ending).toList(),
                walk.names(),
                false);
    }

    /** Returns the options of a sync. */
    IngestOptions ofSync() {
        return new IngestOptions(
                source,
                target,
                name,
                content,
                splitRule,
                order,
                IngestRun.Effect.SYNC,
                OnDuplicate.REPLACE,
                ingestId,
                walk,
                work,
                Run.REAL);
    }

    /**
     * Parses a command line: the source, the target, and {@link IngestFlags}. Inspects the two directories, but changes
     * nothing.
     *
     * @throws InvalidIngestException with all problems
     */
    public static IngestOptions parse(String... args) {
        return new IngestOptionsParser(args).parse();
    }
}

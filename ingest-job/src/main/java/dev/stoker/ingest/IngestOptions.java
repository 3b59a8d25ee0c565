package dev.stoker.ingest;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What an ingest is asked to do; valid in itself. {@link #parse} makes it from arguments.
 *
 * @param source where the samples lie: an absolute path or a URI
 * @param target where the dataset lies: an absolute path or a URI
 * @param name of a new dataset
 * @param content what the samples are made of
 * @param splitRule which split a sample goes to; empty for the dataset's own rule, or all into {@code train}
 * @param order of the samples in the chunks
 * @param mode what happens to a target that has a version
 * @param ingestId of an interrupted ingest to go on with
 * @param walk what in the tree is a sample
 * @param work how much at a time
 * @param run whether anything is written
 */
public record IngestOptions(
        String source,
        String target,
        String name,
        Content content,
        Optional<SplitRule> splitRule,
        WalkOrder order,
        Mode mode,
        Optional<String> ingestId,
        Walk walk,
        Work work,
        Run run) {

    /** What happens to a target that has a version. */
    public enum Mode {
        /** It is refused. */
        CREATE,
        /** Samples are added. */
        APPEND,
        /** A version of the new samples alone is made. */
        REPLACE
    }

    /** Whether anything is written. */
    public enum Run {
        REAL,
        /** The plan is shown. */
        DRY
    }

    /**
     * What samples are made of.
     *
     * @param field name of the field of a file's bytes; by default from the kind of the files
     * @param type of that field, canonical; by default from the kind of the files
     * @param label where the class comes from
     * @param labelField name of its field
     * @param sidecars further fields from files beside the samples
     * @param payload names of the payload fields; by default those that are big
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
     * What in the tree is a sample.
     *
     * @param hidden files whose names start with a dot
     * @param links symbolic links
     * @param empty files of no bytes
     * @param errors what cannot be read
     * @param limit take only the first so many samples
     */
    public record Walk(
            FileTree.Hidden hidden,
            FileTree.Links links,
            FileTree.Empty empty,
            FileTree.Errors errors,
            OptionalLong limit) {}

    /**
     * How much at a time.
     *
     * @param chunkSizeBytes length of a chunk; by default the dataset's, or 8 MiB
     * @param parallelism subtasks; by default what Flink is configured to
     * @param readThreads chunks in work in each subtask
     * @param readAhead files of a source elsewhere that each subtask reads at a time
     */
    public record Work(OptionalInt chunkSizeBytes, OptionalInt parallelism, int readThreads, int readAhead) {}

    /** The tree to walk. */
    FileTree tree() {
        return new FileTree(
                source,
                walk.hidden(),
                walk.links(),
                walk.empty(),
                walk.errors(),
                content.sidecars().stream().map(Sidecar::ending).toList(),
                false);
    }

    /**
     * The options of a command line: the source, the target, and {@link IngestFlags}. Looks at the two directories, but
     * changes nothing.
     *
     * @throws InvalidIngestException with everything that is wrong
     */
    public static IngestOptions parse(String... args) {
        return new OptionsParser(args).parse();
    }
}

package dev.stoker.ingest;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.ingest.pack.read.TextSource;
import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.spec.GivenFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.ingest.spec.LocationChecks;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.spec.Sidecar;
import dev.stoker.ingest.spec.SidecarType;
import dev.stoker.ingest.spec.SourceLocation;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.SplitShares;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Parses arguments into options and collects all problems. For one use. */
final class IngestOptionsParser {

    private final JobArguments arguments;
    private final GivenOptions given;
    private final List<String> problems;
    private final GivenFlags flags;
    private final String what;

    IngestOptionsParser(String... args) {
        this("an ingest", OptionKinds.of(OptionKinds.Kind.FILES), OptionKinds.others(OptionKinds.Kind.FILES), args);
    }

    /**
     * @param what a job of this kind, for messages
     * @param known the options that it has; the others have their defaults
     * @param refused options of other jobs, each with the problem that it is
     */
    IngestOptionsParser(String what, List<JobOption<?>> known, Map<JobOption<?>, String> refused, String... args) {
        this.what = what;
        arguments = JobArguments.parse(args, known, refused);
        given = arguments.options();
        problems = new ArrayList<>(arguments.problems());
        flags = new GivenFlags(given, problems::add);
    }

    IngestOptions parse() {
        List<String> positional = arguments.positional();
        String source = null;
        String target = null;
        NameFilter names = flags.names();
        if (positional.size() != 2) {
            problems.add(what + " takes a source directory and a target directory, not "
                    + (positional.isEmpty() ? "nothing" : String.join(" ", positional)));
        } else {
            Optional<SourceLocation> place = place(positional.get(0));
            source = place.map(SourceLocation::root).orElse(null);
            names = place.flatMap(SourceLocation::pattern).map(names::with).orElse(names);
            target = location(positional.get(1));
            if (source != null && target != null) {
                new LocationChecks(problems::add).check(source, target);
            }
        }
        IngestOptions.Content content = content();
        Optional<SplitRule> splitRule = splitRule();
        WalkOrder order = flags.order();
        IngestRun.Effect effect = flags.effect();
        OnDuplicate onDuplicate = flags.onDuplicate(order);
        Optional<String> ingestId = flags.ingestId();
        IngestOptions.Walk walk = new IngestOptions.Walk(
                flags.choice(FileTree.Hidden.class, IngestFlags.HIDDEN),
                flags.choice(FileTree.Links.class, IngestFlags.LINKS),
                flags.choice(FileTree.Empty.class, IngestFlags.EMPTY),
                flags.choice(FileTree.Errors.class, IngestFlags.ON_ERROR),
                names,
                RowDetection.isFiles(given) ? IngestOptions.Choice.GIVEN : IngestOptions.Choice.DETECTED,
                limit());
        IngestOptions.Work work = work();
        if (source == null || target == null || !problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return new IngestOptions(
                source,
                target,
                given.getOptional(IngestFlags.NAME).orElse(Stores.name(target).orElse("dataset")),
                content,
                splitRule,
                order,
                effect,
                onDuplicate,
                ingestId,
                walk,
                work,
                given.get(IngestFlags.DRY_RUN) ? IngestOptions.Run.DRY : IngestOptions.Run.REAL);
    }

    private Optional<SourceLocation> place(String text) {
        try {
            return Optional.of(SourceLocation.of(RowDetection.location(text)));
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return Optional.empty();
        }
    }

    /** Returns whether a flag is given. */
    boolean isGiven(JobOption<Boolean> flag) {
        return given.get(flag);
    }

    /** Returns whether files that cannot be read are left out. */
    boolean isSkippingErrors() {
        return given.get(IngestFlags.ON_ERROR).equalsIgnoreCase(FileTree.Errors.SKIP.name());
    }

    /** Adds a problem, which {@link #parse} reports. */
    void report(String problem) {
        problems.add(problem);
    }

    /** Returns the normalized location, or null if it is invalid. */
    private @Nullable String location(String text) {
        try {
            return Stores.normalize(text);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return null;
        }
    }

    private IngestOptions.Content content() {
        Optional<String> field = given.getOptional(IngestFlags.FIELD);
        Optional<String> type = Optional.empty();
        if (field.isPresent() && field.get().indexOf(':') >= 0) {
            int colon = field.get().indexOf(':');
            type = Optional.of(field.get().substring(colon + 1));
            field = Optional.of(field.get().substring(0, colon));
            if (!type.get().equals("binary") && !type.get().equals("utf8")) {
                problems.add("option --field: the type " + type.get() + " is neither binary nor utf8");
            }
        }
        field.ifPresent(name -> flags.addField(IngestFlags.FIELD, name, "binary"));
        Optional<LabelRule> label = given.getOptional(IngestFlags.LABEL_FROM).flatMap(this::label);
        String labelField = given.get(IngestFlags.LABEL_FIELD);
        if (label.isPresent()) {
            flags.addField(IngestFlags.LABEL_FIELD, labelField, "categorical");
        }
        List<Sidecar> sidecars = new ArrayList<>();
        for (String text : given.get(IngestFlags.SIDECAR)) {
            sidecar(text).ifPresent(sidecars::add);
        }
        return new IngestOptions.Content(field, type, label, labelField, sidecars, flags.payload());
    }

    private Optional<Sidecar> sidecar(String text) {
        int equals = text.indexOf('=');
        int colon = text.indexOf(':', equals + 1);
        if (equals < 2 || colon < 0 || text.charAt(0) != '.') {
            problems.add("option --sidecar: " + text + " is not ending=field:type, such as .txt=caption:utf8");
            return Optional.empty();
        }
        Sidecar sidecar =
                new Sidecar(text.substring(0, equals), text.substring(equals + 1, colon), text.substring(colon + 1));
        flags.addField(IngestFlags.SIDECAR, sidecar.field(), sidecar.type());
        if (!SidecarType.isKnown(sidecar.type())) {
            problems.add("option --sidecar: the type " + sidecar.type() + " cannot be read from a file; use "
                    + SidecarType.names());
            return Optional.empty();
        }
        return Optional.of(sidecar);
    }

    private Optional<LabelRule> label(String text) {
        if (text.equals("parent-dir")) {
            return Optional.of(new LabelRule.ParentDirectory());
        }
        if (text.startsWith("regex:")) {
            try {
                Pattern pattern = Pattern.compile(text.substring("regex:".length()));
                if (pattern.matcher("").groupCount() < 1) {
                    problems.add("option --label-from: the expression " + pattern
                            + " has no group; put the part that is the class in parentheses");
                }
                return Optional.of(new LabelRule.Regex(pattern));
            } catch (PatternSyntaxException e) {
                problems.add("option --label-from: " + e.getDescription() + " near index " + e.getIndex() + " of "
                        + e.getPattern());
                return Optional.empty();
            }
        }
        if (text.startsWith("csv:")) {
            String file = location(text.substring("csv:".length()));
            if (file == null) {
                return Optional.empty();
            }
            if (!TextSource.isReadable(file)) {
                problems.add("option --label-from: the file " + file + " does not exist or is not readable");
            }
            return Optional.of(new LabelRule.Csv(file));
        }
        problems.add("option --label-from: " + text + " is not parent-dir, regex:<expression> or csv:<file>");
        return Optional.empty();
    }

    private Optional<SplitRule> splitRule() {
        Optional<String> from = given.getOptional(IngestFlags.SPLIT_FROM);
        List<String> shares = given.get(IngestFlags.SPLIT);
        if (from.isPresent() && !from.get().equals("top-dir")) {
            problems.add("option --split-from: " + from.get() + " is not top-dir");
        }
        if (from.isPresent() && !shares.isEmpty()) {
            problems.add("--split and --split-from cannot be given together; leave one out");
        }
        if (from.isPresent()) {
            return Optional.of(new SplitRule.TopDirectory());
        }
        if (shares.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new SplitRule.Shares(SplitShares.parse(shares, problems)));
    }

    private OptionalLong limit() {
        given.check(IngestFlags.LIMIT, problems::add);
        return given.getOptional(IngestFlags.LIMIT).map(OptionalLong::of).orElse(OptionalLong.empty());
    }

    private IngestOptions.Work work() {
        OptionalInt chunkBytes = flags.chunkBytes();
        int threads = flags.checked(IngestFlags.READ_THREADS);
        int readAhead = flags.checked(IngestFlags.READ_AHEAD);
        return new IngestOptions.Work(chunkBytes, flags.parallelism(), threads, readAhead);
    }
}

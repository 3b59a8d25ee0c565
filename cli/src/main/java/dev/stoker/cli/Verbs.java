package dev.stoker.cli;

import dev.stoker.cli.bench.BenchVerb;
import dev.stoker.cli.browse.BrowseVerb;
import dev.stoker.cli.change.DeleteVerb;
import dev.stoker.cli.change.TagVerb;
import dev.stoker.cli.change.UpdateVerb;
import dev.stoker.cli.copy.CopyVerb;
import dev.stoker.cli.copy.MirrorVerb;
import dev.stoker.cli.feed.AuditVerb;
import dev.stoker.cli.feed.CacheVerb;
import dev.stoker.cli.feed.FeedVerb;
import dev.stoker.cli.feed.PsVerb;
import dev.stoker.cli.feed.RunVerb;
import dev.stoker.cli.feed.StopVerb;
import dev.stoker.cli.feed.TopVerb;
import dev.stoker.cli.feed.WaitVerb;
import dev.stoker.cli.help.CompletionVerb;
import dev.stoker.cli.help.JobOptions;
import dev.stoker.cli.help.ManVerb;
import dev.stoker.cli.ingest.ExportVerb;
import dev.stoker.cli.ingest.IndexVerb;
import dev.stoker.cli.ingest.IngestVerb;
import dev.stoker.cli.ingest.SyncVerb;
import dev.stoker.cli.keep.CompactVerb;
import dev.stoker.cli.keep.ExpireVerb;
import dev.stoker.cli.keep.GcVerb;
import dev.stoker.cli.keep.RebuildVerb;
import dev.stoker.cli.keep.RecoverVerb;
import dev.stoker.cli.keep.VerifyVerb;
import dev.stoker.cli.look.CatVerb;
import dev.stoker.cli.look.DiffVerb;
import dev.stoker.cli.look.GetVerb;
import dev.stoker.cli.look.InfoVerb;
import dev.stoker.cli.look.LogVerb;
import dev.stoker.cli.look.LsVerb;
import dev.stoker.cli.look.ShowVerb;
import dev.stoker.cli.look.StatVerb;
import dev.stoker.cli.look.WhyVerb;
import dev.stoker.cli.mount.MountVerb;
import dev.stoker.cli.mount.UnmountVerb;
import dev.stoker.cli.sql.SqlVerb;
import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.spec.TopicIngestFlags;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** All verbs with their headings, in the order in which help lists them. */
final class Verbs {

    private Verbs() {}

    /** Verbs that take the options of a job. The job parses them, so that all problems are reported together. */
    static final Set<String> OF_JOBS = Set.of("ingest", "sync", "export", "feed", "run");

    /** Verbs that describe all others. */
    private static final Set<String> ABOUT_ALL = Set.of("completion", "man");

    /** Returns whether a verb writes temporary files. */
    static boolean needsScratch(String verb) {
        return OF_JOBS.contains(verb) || verb.equals("sql");
    }

    /**
     * Adds the verbs to the command.
     *
     * @param command the command
     * @param arguments of the job, if the verb is one of {@link #OF_JOBS}
     * @param trailing the words after the first {@code --}
     */
    static void addTo(CommandLine command, List<String> arguments, List<String> trailing) {
        all(arguments, trailing).forEach(heading -> heading.verbs.values().forEach(verb -> add(command, verb.get())));
    }

    /**
     * Adds the verb that a first word names, or all verbs if it names none. To build all of them takes a tenth of a
     * second.
     *
     * @param command the command
     * @param word the first word of the command line
     * @param arguments of the job, if the verb is one of {@link #OF_JOBS}
     * @param trailing the words after the first {@code --}
     */
    static void addTo(CommandLine command, String word, List<String> arguments, List<String> trailing) {
        Optional<Supplier<CommandLine>> verb = all(arguments, trailing).stream()
                .flatMap(heading -> Stream.ofNullable(heading.verbs.get(word)))
                .findFirst();
        if (verb.isEmpty() || ABOUT_ALL.contains(word)) {
            addTo(command, arguments, trailing);
        } else {
            add(command, verb.get().get());
        }
    }

    /** Returns the names of all verbs by heading. */
    static Map<String, List<String>> namesByHeading() {
        Map<String, List<String>> headings = new LinkedHashMap<>();
        all(List.of(), List.of()).forEach(heading -> headings.put(heading.title, List.copyOf(heading.verbs.keySet())));
        return headings;
    }

    /** Some verbs by name, each to be built when it is needed. */
    private static final class Heading {

        private final String title;
        private final Map<String, Supplier<CommandLine>> verbs = new LinkedHashMap<>();

        Heading(String title) {
            this.title = title;
        }

        Heading with(String name, Supplier<Object> verb) {
            return withLine(name, () -> new CommandLine(verb.get()));
        }

        Heading withLine(String name, Supplier<CommandLine> verb) {
            verbs.put(name, verb);
            return this;
        }
    }

    private static List<Heading> all(List<String> arguments, List<String> trailing) {
        return List.of(
                new Heading("Make datasets")
                        .withLine("ingest", () -> ingest(arguments))
                        .withLine("sync", () -> sync(arguments)),
                new Heading("Look at datasets")
                        .with("info", InfoVerb::new)
                        .with("show", ShowVerb::new)
                        .with("ls", LsVerb::new)
                        .with("stat", StatVerb::new)
                        .with("get", GetVerb::new)
                        .with("cat", CatVerb::new)
                        .with("browse", BrowseVerb::new)
                        .with("log", LogVerb::new)
                        .with("diff", DiffVerb::new)
                        .with("sql", SqlVerb::new),
                new Heading("Train")
                        .withLine("run", () -> feeding(new RunVerb(arguments, trailing)))
                        .withLine("feed", () -> feed(arguments))
                        .with("ps", PsVerb::new)
                        .with("top", TopVerb::new)
                        .with("wait", WaitVerb::new)
                        .with("stop", StopVerb::new)
                        .with("audit", AuditVerb::new)
                        .with("why", WhyVerb::new),
                new Heading("Change datasets")
                        .with("tag", TagVerb::new)
                        .with("update", UpdateVerb::new)
                        .with("delete", DeleteVerb::new)
                        .with("compact", CompactVerb::new)
                        .with("index", IndexVerb::new),
                new Heading("Check, clean up and repair")
                        .with("verify", VerifyVerb::new)
                        .with("expire", ExpireVerb::new)
                        .with("gc", GcVerb::new)
                        .with("cache", CacheVerb::new)
                        .with("recover", RecoverVerb::new)
                        .with("rebuild", RebuildVerb::new),
                new Heading("Share datasets")
                        .withLine("export", () -> export(arguments))
                        .with("copy", CopyVerb::new)
                        .with("mirror", MirrorVerb::new)
                        .with("mount", MountVerb::new)
                        .with("unmount", UnmountVerb::new),
                new Heading("Measure and set up")
                        .with("bench", BenchVerb::new)
                        .with("completion", CompletionVerb::new)
                        .with("man", ManVerb::new));
    }

    private static CommandLine ingest(List<String> arguments) {
        CommandLine ingest = new CommandLine(new IngestVerb(arguments));
        JobOptions.describe(
                ingest.getCommandSpec(),
                IngestFlags.headings(),
                "SOURCE",
                "Directory or URI of the samples, files with rows, or kafka://host:port,…/topic.",
                "TARGET",
                "Directory or URI of the dataset.");
        JobOptions.describe(ingest.getCommandSpec(), RowIngestFlags.headings());
        JobOptions.describe(ingest.getCommandSpec(), TopicIngestFlags.headings());
        return ingest;
    }

    private static CommandLine sync(List<String> arguments) {
        CommandLine sync = new CommandLine(new SyncVerb(arguments));
        JobOptions.describe(
                sync.getCommandSpec(),
                SyncFlags.headings(),
                "SOURCE",
                "Directory or URI of the samples.",
                "DATASET",
                "Directory or URI of the dataset.");
        return sync;
    }

    private static CommandLine export(List<String> arguments) {
        CommandLine export = new CommandLine(new ExportVerb(arguments));
        JobOptions.describe(
                export.getCommandSpec(),
                ExportFlags.headings(),
                "DATASET",
                "The samples to export: path[@version][:split]; all splits by default.",
                "TARGET",
                "Directory or URI for the files.");
        return export;
    }

    private static CommandLine feed(List<String> arguments) {
        CommandLine feed = feeding(new FeedVerb(arguments));
        JobOptions.describe(feed.getCommandSpec(), TopicFeedFlags.headings());
        return feed;
    }

    private static void add(CommandLine command, CommandLine verb) {
        // No verb has the usual --version, because some use it for a dataset's version.
        addHelp(verb);
        command.addSubcommand(verb);
    }

    private static void addHelp(CommandLine verb) {
        verb.getCommandSpec()
                .addOption(OptionSpec.builder("-h", "--help")
                        .usageHelp(true)
                        .description("Show this help.")
                        .build());
        verb.getSubcommands().values().forEach(Verbs::addHelp);
    }

    private static CommandLine feeding(Object verb) {
        CommandLine command = new CommandLine(verb);
        JobOptions.describe(
                command.getCommandSpec(),
                FeedFlags.headings(),
                "STREAM",
                "What to serve: [name=]path[@version][:split]; the split is train by default.");
        return command;
    }
}

package dev.stoker.cli;

import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.ingest.rows.RowIngestFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.topic.TopicIngestFlags;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** All verbs, in the order in which help lists them. */
final class Verbs {

    private Verbs() {}

    /** Verbs that take the options of a job. The job parses them, so that all problems are reported together. */
    static final Set<String> OF_JOBS = Set.of("ingest", "sync", "export", "feed", "run");

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
        CommandLine ingest = new CommandLine(new IngestVerb(arguments));
        JobOptions.describe(
                ingest.getCommandSpec(),
                IngestFlags.PREFIX,
                IngestFlags.all(),
                "SOURCE",
                "Directory or URI of the samples, files with rows, or kafka://host:port,…/topic.",
                "TARGET",
                "Directory or URI of the dataset.");
        JobOptions.describe(ingest.getCommandSpec(), IngestFlags.PREFIX, RowIngestFlags.own());
        JobOptions.describe(ingest.getCommandSpec(), IngestFlags.PREFIX, TopicIngestFlags.all());
        command.addSubcommand(ingest);
        CommandLine sync = new CommandLine(new SyncVerb(arguments));
        JobOptions.describe(
                sync.getCommandSpec(),
                IngestFlags.PREFIX,
                SyncFlags.own(),
                "SOURCE",
                "Directory or URI of the samples.",
                "DATASET",
                "Directory or URI of the dataset.");
        JobOptions.describe(sync.getCommandSpec(), IngestFlags.PREFIX, SyncFlags.shared());
        command.addSubcommand(sync);
        CommandLine export = new CommandLine(new ExportVerb(arguments));
        JobOptions.describe(
                export.getCommandSpec(),
                ExportFlags.PREFIX,
                ExportFlags.all(),
                "DATASET",
                "The samples to export: path[@version][:split]; all splits by default.",
                "TARGET",
                "Directory or URI for the files.");
        command.addSubcommand(export);
        command.addSubcommand(new SqlVerb());
        command.addSubcommand(new InfoVerb());
        command.addSubcommand(new ShowVerb());
        command.addSubcommand(new LsVerb());
        command.addSubcommand(new StatVerb());
        command.addSubcommand(new GetVerb());
        command.addSubcommand(new CatVerb());
        command.addSubcommand(new BrowseVerb());
        command.addSubcommand(new MountVerb());
        command.addSubcommand(new UnmountVerb());
        command.addSubcommand(new LogVerb());
        command.addSubcommand(new VerifyVerb());
        command.addSubcommand(feeding(new RunVerb(arguments, trailing)));
        CommandLine feed = feeding(new FeedVerb(arguments));
        JobOptions.describe(feed.getCommandSpec(), FeedFlags.PREFIX, TopicFeedFlags.all());
        command.addSubcommand(feed);
        command.addSubcommand(new PsVerb());
        command.addSubcommand(new TopVerb());
        command.addSubcommand(new StopVerb());
        command.addSubcommand(new WaitVerb());
        command.addSubcommand(new AuditVerb());
        command.addSubcommand(new WhyVerb());
        command.addSubcommand(new TagVerb());
        command.addSubcommand(new DiffVerb());
        command.addSubcommand(new DeleteVerb());
        command.addSubcommand(new UpdateVerb());
        command.addSubcommand(new CompactVerb());
        command.addSubcommand(new IndexVerb());
        command.addSubcommand(new CopyVerb());
        command.addSubcommand(new MirrorVerb());
        command.addSubcommand(new ExpireVerb());
        command.addSubcommand(new GcVerb());
        command.addSubcommand(new CacheVerb());
        command.addSubcommand(new RecoverVerb());
        command.addSubcommand(new RebuildVerb());
        command.addSubcommand(new BenchVerb());
        command.addSubcommand(new CompletionVerb());
        command.addSubcommand(new ManVerb());
        // No verb has the usual --version, because some use it for a dataset's version.
        command.getSubcommands().values().forEach(Verbs::addHelp);
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
                FeedFlags.PREFIX,
                FeedFlags.all(),
                "STREAM",
                "What to serve: [name=]path[@version][:split]; the split is train by default.");
        return command;
    }
}

package dev.stoker.cli.help;

import dev.stoker.cli.options.OwnFlags;
import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.spec.TopicIngestFlags;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The topics under which help, man pages and the reference list the options of a verb. */
public final class HelpHeadings {

    /**
     * Some options of a verb.
     *
     * @param title without a colon
     */
    public record Topic(String title, List<OptionSpec> options) {}

    /** Names of options. */
    private record Named(String title, List<String> names) {}

    private static final List<Named> OF_VERBS = List.of(
            new Named(
                    "Selection",
                    List.of(
                            "--feed",
                            "--stream",
                            "--version",
                            "--as-of",
                            "--field",
                            "--recursive",
                            "--delimiter",
                            "--split",
                            "--prefix",
                            "--keys-from",
                            "--null",
                            "--where",
                            "--missing",
                            "--erased",
                            "--n",
                            "--all",
                            "--ledger",
                            "--dataset",
                            "--epochs",
                            "--older-than",
                            "--keep",
                            "--keep-last")),
            new Named("Table", List.of("--key", "--column", "--add", "--format")),
            new Named("Statements", List.of("--execute", "--file", "--set")),
            new Named("New chunks", List.of("--below", "--chunk-size", "--order", "--seed")),
            new Named(
                    "Changes",
                    List.of(
                            "--rebuild",
                            "--check",
                            "--checksum",
                            "--with-ledgers",
                            OwnFlags.NO_INDEX,
                            "--erase",
                            "--certificate",
                            "--dry-run",
                            "--yes",
                            "--move",
                            "--delete",
                            "--end-feed",
                            "--break",
                            "--ingest-id")),
            new Named("Redis", List.of("--redis")),
            new Named(
                    "Measurement",
                    List.of(
                            "--size",
                            "--block-size",
                            "--depth",
                            "--shape",
                            "--accelerator",
                            "--accelerators",
                            "--against",
                            "--batch-size",
                            "--network",
                            "--rounds",
                            "--seconds")),
            new Named(
                    "Time, threads and clusters",
                    List.of("--timeout", "--interval", "--threads", "--flink", "--parallelism")),
            new Named(
                    "Output",
                    List.of(
                            "--to",
                            "--output",
                            "--image",
                            "--width",
                            "--graphics",
                            "--force",
                            "--chunks",
                            "--samples",
                            "--keys",
                            "--once",
                            OwnFlags.JSON)),
            new Named("Help", List.of("--help")));

    /** The title of options that have no topic. */
    public static final String OTHER = "Other options";

    private HelpHeadings() {}

    /** The topics of a verb, in the order in which help lists them; each option of the verb is in one of them. */
    public static List<Topic> of(CommandSpec verb) {
        Set<OptionSpec> left = new LinkedHashSet<>(verb.options());
        List<Topic> topics = new ArrayList<>();
        for (Named named : names(verb.name())) {
            List<OptionSpec> options = named.names().stream()
                    .map(verb::findOption)
                    .filter(left::remove)
                    .toList();
            if (!options.isEmpty()) {
                topics.add(new Topic(named.title(), options));
            }
        }
        if (!left.isEmpty()) {
            topics.add(new Topic(OTHER, List.copyOf(left)));
        }
        return topics;
    }

    private static List<Named> names(String verb) {
        List<Named> names = new ArrayList<>();
        switch (verb) {
            case "ingest" -> {
                add(names, IngestFlags.headings());
                add(names, RowIngestFlags.headings());
                add(names, TopicIngestFlags.headings());
            }
            case "sync" -> add(names, SyncFlags.headings());
            case "export" -> add(names, ExportFlags.headings());
            case "feed", "run" -> {
                add(names, FeedFlags.headings());
                add(names, TopicFeedFlags.headings());
            }
            case "why" -> {
                names.add(
                        new Named("Stream and order", List.of("--feed", "--stream", "--group", "--state", "--order")));
                names.add(new Named("Steps or samples", List.of("--epoch", "--step", "--batch", "--key", "--epochs")));
                names.add(new Named("Trainers", List.of("--world-size", "--rank", "--start", "--skip", "--tail")));
            }
            case "browse" -> names.add(new Named("Page", List.of("--port", "--open")));
            case "stoker" -> names.add(new Named("Options", List.of("--help", "--version")));
            case "mount" -> {
                names.add(new Named("Content", List.of("--version", "--as-of", "--versions", "--field", "--interval")));
                names.add(new Named("Cache and memory", List.of("--tier", "--warm", "--working-memory")));
                names.add(new Named("Mount", List.of("--allow-other", "--background")));
            }
            default -> {
                // The options of the other verbs have one meaning each.
            }
        }
        names.addAll(OF_VERBS);
        return names;
    }

    private static void add(List<Named> names, List<OptionHeading> headings) {
        headings.forEach(heading -> names.add(new Named(
                heading.title(), heading.options().stream().map(JobOption::flag).toList())));
    }
}

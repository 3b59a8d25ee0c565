package dev.stoker.cli.mount;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.flink.arguments.OptionValues;
import dev.stoker.mount.fuse.FuseMount;
import dev.stoker.mount.fuse.FuseSettings;
import dev.stoker.mount.fuse.MountRecords;
import dev.stoker.mount.fuse.Problems;
import dev.stoker.mount.tree.MountTree;
import dev.stoker.mount.tree.MountedDataset;
import dev.stoker.mount.tree.TreeOptions;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker mount}: shows datasets as directories. */
@Command(
        name = "mount",
        header = {
            "Examples:",
            "  stoker mount ./data/photos ./mounted",
            "  stoker mount ./data/photos@3 ./mounted --background",
            "  stoker mount s3a://bucket/photos ./mounted --tier memory:8g",
            "  stoker mount train=./data/photos@best val=./data/holdout ./mounted"
        },
        description = {
            "Shows a dataset as a read-only directory. Each sample is a file with its original path. Runs until Ctrl-C,"
                    + " a termination signal or stoker unmount DIRECTORY.",
            "A dataset without a version shows the newest one, also new ones while it is mounted. Needs libfuse 2 and"
                    + " /dev/fuse. Uses the sample index; see stoker index."
        },
        sortOptions = false)
public final class MountVerb implements Callable<Integer> {

    private static final Pattern NAMED = Pattern.compile("([A-Za-z0-9_][A-Za-z0-9_.-]*)=(.+)");

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "2..*",
            paramLabel = "DATASET... DIRECTORY",
            hideParamSyntax = true,
            description = "Directory or URI of the dataset, and an empty directory. DATASET@3 names version 3,"
                    + " DATASET@best a tag. Several datasets have names, NAME=DATASET, and become directories.")
    private List<String> words = List.of();

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(names = "--versions", description = "List the directory .stoker, which has all versions.")
    private boolean versions;

    @Option(
            names = "--field",
            paramLabel = "NAME",
            description = "Field whose bytes the files have: payload, binary or text. Default: the only payload field,"
                    + " or the only field of bytes or text.")
    private @Nullable String field;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            description = "Look for a new version at this interval, such as 30s or 5m. Default: 5s.")
    private String interval = "5s";

    @Option(
            names = "--tier",
            paramLabel = "TIER",
            description =
                    "A cache for chunks: memory:8g, memory:auto, disk:/nvme/stoker:400g, or none. Can be repeated;"
                            + " the first tier is filled first. Default: chunks on a local disk are read in place,"
                            + " other chunks are kept in memory:auto.")
    private List<String> tiers = new ArrayList<>();

    @Option(names = "--warm", description = "Fill the tiers at once instead of when files are read.")
    private boolean warm;

    @Option(
            names = "--working-memory",
            paramLabel = "SIZE",
            description =
                    "Limit for chunks that are being read and are in no tier. Default: 8 chunks, at least 64 MiB.")
    private @Nullable String workingMemory;

    @Option(
            names = "--allow-other",
            description = "Let all users of the machine read the files. Default: only the user of the command.")
    private boolean allowOther;

    @Option(
            names = "--background",
            description = "Return when the directory can be used, and serve it in the background.")
    private boolean background;

    /** Returns the directory of the records of mounts. */
    public static Path records() throws StokerException {
        StokerHome.requireDirectory();
        return StokerHome.directory().resolve("mounts");
    }

    @Override
    public Integer call() throws Exception {
        Path directory = Path.of(words.get(words.size() - 1));
        TreeOptions options = options();
        MountRecords records = new MountRecords(records());
        PrintWriter err = spec.commandLine().getErr();
        if (records.cleanDead(directory, line -> err.println("stoker: " + line))) {
            err.println("stoker: cleaned up a mount of " + directory + " whose process had ended");
        }
        FuseMount.require(directory);
        if (background) {
            return new BackgroundMount(directory, spec.commandLine()).start();
        }
        serve(directory, options, records);
        return 0;
    }

    private TreeOptions options() {
        Duration pause = Units.parseTime("--interval", interval);
        if (pause.isZero()) {
            throw new IllegalArgumentException("option --interval: " + interval + " must be positive");
        }
        TierOptions kept = tiers.isEmpty()
                ? TierOptions.defaults()
                : TierOptions.defaults().with(TierSpec.parse(tiers));
        TreeOptions usual = TreeOptions.defaults();
        return new TreeOptions(
                warm ? kept.warmed() : kept,
                workingMemory == null ? 0 : OptionValues.bytes("--working-memory", workingMemory),
                usual.headBytes(),
                pause,
                versions);
    }

    private void serve(Path directory, TreeOptions options, MountRecords records) throws Exception {
        UUID id = UUID.randomUUID();
        List<String> locations = new ArrayList<>();
        List<MountedDataset> datasets = datasets(locations);
        PrintWriter err = spec.commandLine().getErr();
        records.add(MountRecords.Entry.ofThisProcess(id, directory, locations));
        try (Signals signals = new Signals();
                MountTree tree = MountTree.open(id, datasets, options);
                FuseMount mount = FuseMount.start(
                        tree,
                        directory,
                        new FuseSettings(String.join(" ", locations), tree.isImmutable(), allowOther),
                        new Problems(line -> err.println("stoker: " + line)))) {
            signals.onStop(() -> stop(mount));
            spec.commandLine().getOut().println(ready(tree, mount.directory()));
            mount.await();
        } finally {
            records.remove(id);
        }
    }

    private void stop(FuseMount mount) {
        try {
            mount.close();
        } catch (IOException e) {
            spec.commandLine().getErr().println("stoker: " + Errors.message(e));
        }
        // Open files would keep the file system running.
        mount.end();
    }

    private static String ready(MountTree tree, Path directory) {
        long samples =
                tree.samples().values().stream().mapToLong(Long::longValue).sum();
        String what = tree.versions().entrySet().stream()
                .map(entry -> (entry.getKey().isEmpty() ? "" : entry.getKey() + " ") + "version " + entry.getValue())
                .collect(Collectors.joining(", "));
        return "mounted " + what + " (" + Units.plural(samples, "file") + ") at " + directory
                + "; Ctrl-C or stoker unmount " + ShellText.word(directory.toString()) + " ends it";
    }

    /** @param locations receives the directory or URI of each dataset */
    private List<MountedDataset> datasets(List<String> locations) throws IOException {
        List<String> given = words.subList(0, words.size() - 1);
        List<MountedDataset> datasets = new ArrayList<>();
        Set<String> names = new HashSet<>();
        try {
            for (String text : given) {
                Matcher named = NAMED.matcher(text);
                boolean isNamed = named.matches() && !Files.isDirectory(Path.of(text));
                if (!isNamed && given.size() > 1) {
                    throw new IllegalArgumentException(
                            "several datasets need names, such as photos=" + text + ", for their directories");
                }
                String name = isNamed ? named.group(1) : "";
                if (!names.add(name)) {
                    throw new IllegalArgumentException("two datasets have the name " + name);
                }
                datasets.add(dataset(name, isNamed ? named.group(2) : text, locations));
            }
            return datasets;
        } catch (IOException | RuntimeException e) {
            for (MountedDataset opened : datasets) {
                opened.store().close();
            }
            throw e;
        }
    }

    private MountedDataset dataset(String name, String text, List<String> locations) throws IOException {
        try (OpenDataset open = OpenDataset.open(text, version)) {
            OptionalLong pinned = open.requested();
            locations.add(open.location());
            return new MountedDataset(name, Stores.open(open.location()), pinned, field);
        }
    }
}

package dev.stoker.ingest;

import dev.stoker.formats.RowFormat;
import dev.stoker.formats.detection.ForeignFormat;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.spec.FileKind;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/** Warns if the files of a source are likely to be packed differently from what the user expects. For one use. */
final class SourceWarnings {
    private static final int ENDINGS_SHOWN = 5;
    /** If directories have fewer files on average, they are probably not classes. */
    private static final int FILES_OF_A_CLASS = 3;

    /** Usual names of directories whose files are parts of the same samples. */
    private static final Set<String> PICTURES = Set.of("image", "images", "img", "imgs", "jpegimages", "photos");

    private static final Set<String> PARTS = Set.of(
            "mask",
            "masks",
            "ann",
            "anns",
            "annotation",
            "annotations",
            "label",
            "labels",
            "seg",
            "segmentation",
            "captions",
            "boxes",
            "depth");

    private final IngestOptions options;
    private final NameCensus names;
    private final boolean isWhole;
    private final List<String> warnings = new ArrayList<>();

    private SourceWarnings(IngestOptions options, SourceSample sample) {
        this.options = options;
        this.names = sample.names();
        this.isWhole = sample.isWhole();
    }

    /** One line for each probable mistake. */
    static List<String> of(IngestOptions options, Preparation preparation) {
        return new SourceWarnings(options, preparation.sample()).lines(preparation.splitRule());
    }

    private List<String> lines(SplitRule rule) {
        addContainers();
        if (names.kindOfMost() == FileKind.TEXT && names.kind() == FileKind.DATA) {
            addMixedText();
        } else {
            addOthers(names.kind());
        }
        if (options.content().label().isEmpty() && !(rule instanceof SplitRule.TopDirectory)) {
            addClasses();
        }
        return warnings;
    }

    private static Optional<String> container(String example) {
        return Formats.claimed(example)
                .map(RowFormat::name)
                .or(() -> ForeignFormat.named(example).map(ForeignFormat::kind))
                .or(() -> Optional.of("compressed").filter(kind -> isCompressed(example)));
    }

    private static boolean isCompressed(String path) {
        String name = path.toLowerCase(Locale.ROOT);
        return List.of(".gz", ".zst").stream().anyMatch(name::endsWith);
    }

    private static boolean isContainer(NameCensus.Ending files) {
        return container(files.example()).isPresent();
    }

    private void addContainers() {
        Map<String, List<NameCensus.Ending>> found = new TreeMap<>();
        for (NameCensus.Ending files : names.endings().values()) {
            container(files.example())
                    .ifPresent(kind ->
                            found.computeIfAbsent(kind, k -> new ArrayList<>()).add(files));
        }
        found.forEach((kind, those) -> {
            long count = those.stream().mapToLong(NameCensus.Ending::count).sum();
            String example = those.get(0).example();
            String text = Formats.claimed(example).isPresent()
                    ? (count == 1 ? " is a file of " : " are files of ") + kind
                    : (count == 1 ? " is " : " are ") + kind;
            warnings.add("warning: " + count(count) + text + " (" + example
                    + "): each becomes one sample of opaque bytes; " + advice(example));
        });
    }

    private String advice(String example) {
        Optional<RowFormat> format = Formats.claimed(example);
        if (format.isEmpty()) {
            return ForeignFormat.named(example)
                    .map(ForeignFormat::advice)
                    .orElse("unpack such files first, or leave them out with --exclude");
        }
        String ending = example.substring(example.lastIndexOf('.'));
        String rows = "to make samples of their rows, ingest them alone: stoker ingest "
                + ShellText.word(options.source() + "/**" + ending) + " TARGET --format "
                + format.get().name();
        boolean isMedia = names.kindOfMost() == FileKind.IMAGE || names.kindOfMost() == FileKind.AUDIO;
        return isMedia
                ? rows + "; if they name the other files, add --read COLUMN="
                        + names.kindOfMost().field() + " --read-root '" + options.source()
                        + "'; or leave them out with --exclude '*" + ending + "'"
                : rows + "; or leave them out with --exclude '*" + ending + "'";
    }

    /** Text whose field is binary because of other files. */
    private void addMixedText() {
        addEndings(
                NameCensus::isNoText,
                count -> (count == 1 ? " is not text" : " are not text"),
                "so the field is binary; if all are UTF-8, give --field text:utf8; leave files out with --exclude");
    }

    /** Captions, thumbnails and the like next to the majority of files. */
    private void addOthers(FileKind kind) {
        if (kind == FileKind.DATA) {
            return;
        }
        String exclude = names.endings().entrySet().stream()
                .filter(e -> isOther(kind, e.getValue()) && !isSidecar(kind, e.getValue()))
                .map(e -> e.getKey().isEmpty()
                        ? "--exclude '" + nameOf(e.getValue().example()) + "'"
                        : "--exclude '*." + e.getKey() + "'")
                .limit(ENDINGS_SHOWN)
                .collect(Collectors.joining(" "));
        String advice = sidecarAdvice(kind);
        addEndings(
                (ending, files) -> isOther(kind, files),
                count -> (count == 1 ? " has" : " have") + " no " + kind.field() + " extension",
                "but will be packed as samples; " + advice
                        + (advice.isEmpty() || exclude.isEmpty() ? "" : "; ")
                        + (exclude.isEmpty() ? "" : "leave unrelated files out with " + exclude));
    }

    private static boolean isSidecar(FileKind kind, NameCensus.Ending files) {
        return files.kind() == FileKind.TEXT && files.isBeside(kind);
    }

    private static String nameOf(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static boolean isOther(FileKind kind, NameCensus.Ending files) {
        return files.kind() != kind && !isContainer(files);
    }

    /** Names the option for files that describe others, such as captions. */
    private String sidecarAdvice(FileKind kind) {
        return names.endings().entrySet().stream()
                .filter(e -> isOther(kind, e.getValue()) && e.getValue().kind() == FileKind.TEXT)
                .findFirst()
                .map(e -> e.getValue().isBeside(kind)
                        ? "declare files that belong to other files of their directory with --sidecar, such as"
                                + " --sidecar ." + e.getKey() + "=caption:utf8"
                        : "if they describe files of other directories, name both in a table with --read")
                .orElse("");
    }

    private interface Verb {
        String of(long count);
    }

    private void addEndings(BiPredicate<String, NameCensus.Ending> isMeant, Verb verb, String rest) {
        Map<String, Long> counts = new TreeMap<>();
        names.endings().forEach((ending, files) -> {
            if (isMeant.test(ending, files)) {
                counts.merge(ending.isEmpty() ? "no ending" : "." + ending, files.count(), Long::sum);
            }
        });
        long count = counts.values().stream().mapToLong(Long::longValue).sum();
        if (count > 0) {
            String shown = counts.entrySet().stream()
                    .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                            .thenComparing(Map.Entry.comparingByKey()))
                    .limit(ENDINGS_SHOWN)
                    .map(entry -> entry.getKey() + " " + Units.count(entry.getValue()))
                    .collect(Collectors.joining(", "));
            warnings.add("warning: " + count(count) + verb.of(count) + " (" + shown + "), " + rest);
        }
    }

    private void addClasses() {
        List<String> top = List.copyOf(names.top());
        Optional<String> pictures = top.stream()
                .filter(name -> PICTURES.contains(name.toLowerCase(Locale.ROOT)))
                .findFirst();
        Optional<String> parts = top.stream()
                .filter(name -> PARTS.contains(name.toLowerCase(Locale.ROOT)))
                .findFirst();
        if (pictures.isPresent() && parts.isPresent()) {
            warnings.add("warning: each file of the directories " + pictures.get() + " and " + parts.get()
                    + " becomes a separate sample; if files of both belong together, write a table that names them,"
                    + " and ingest it with --read COLUMN=FIELD for each column");
            return;
        }
        boolean hasClasses = names.directories() > 1
                && !names.hasFilesAtRoot()
                && names.total() >= FILES_OF_A_CLASS * names.directories();
        if (hasClasses) {
            warnings.add("warning: " + (isWhole ? "the " : "the first ") + Units.plural(names.total(), "file")
                    + " are in " + Units.plural(names.directories(), "directory")
                    + ", but the dataset gets no label; if the directories are classes, give --label-from"
                    + " parent-dir");
        }
    }

    private String count(long some) {
        return Units.count(some) + (isWhole ? " of " : " of the first ") + Units.plural(names.total(), "file");
    }
}

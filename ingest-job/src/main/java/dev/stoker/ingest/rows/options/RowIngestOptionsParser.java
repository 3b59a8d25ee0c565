package dev.stoker.ingest.rows.options;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.spec.GivenFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.LocationChecks;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SourceLocation;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.SplitShares;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.text.NameList;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.apache.flink.configuration.MemorySize;

/** Parses arguments into options and collects all problems. For one use. */
final class RowIngestOptionsParser {
    private final JobArguments arguments;
    private final GivenOptions given;
    private final List<String> problems;
    private final GivenFlags flags;

    RowIngestOptionsParser(String... args) {
        arguments = JobArguments.parse(
                args, OptionKinds.of(OptionKinds.Kind.ROWS), OptionKinds.others(OptionKinds.Kind.ROWS));
        given = arguments.options();
        problems = new ArrayList<>(arguments.problems());
        flags = new GivenFlags(given, problems::add);
    }

    RowIngestOptions parse() {
        List<String> positional = arguments.positional();
        List<String> sources = new ArrayList<>();
        String target = "";
        if (positional.size() < 2) {
            problems.add("an ingest takes one or more sources and a target directory, not "
                    + (positional.isEmpty() ? "nothing" : positional.get(0)));
        } else {
            positional
                    .subList(0, positional.size() - 1)
                    .forEach(text -> location(text, RowSources::normalize).ifPresent(sources::add));
            target = location(positional.get(positional.size() - 1)).orElse("");
            for (String source : sources) {
                new LocationChecks(problems::add)
                        .requireNoDataset(SourceLocation.of(source).root(), target);
            }
        }
        given.getOptional(RowIngestFlags.FORMAT)
                .filter(name -> !Formats.names().contains(name))
                .ifPresent(name -> problems.add("option --format: " + name + " is not one of "
                        + String.join(", ", Formats.names()) + ", files"));
        RowIngestOptions.Columns columns = columns();
        Optional<SplitRule> splitRule = given.get(IngestFlags.SPLIT).isEmpty()
                ? Optional.empty()
                : Optional.of(new SplitRule.Shares(SplitShares.parse(given.get(IngestFlags.SPLIT), problems)));
        if (splitRule.isPresent() && columns.split().isPresent()) {
            problems.add("--split and --split-by cannot be given together; leave one out");
        }
        RowIngestOptions.Tree tree = new RowIngestOptions.Tree(
                flags.choice(FileTree.Hidden.class, IngestFlags.HIDDEN),
                flags.choice(FileTree.Links.class, IngestFlags.LINKS),
                flags.choice(FileTree.Errors.class, IngestFlags.ON_ERROR),
                flags.names());
        WalkOrder order = flags.order();
        RowIngestOptions options = new RowIngestOptions(
                sources,
                target,
                given.getOptional(IngestFlags.NAME).orElse(Stores.name(target).orElse("dataset")),
                given.getOptional(RowIngestFlags.FORMAT),
                columns,
                splitRule,
                order,
                flags.effect(),
                flags.onDuplicate(order),
                flags.ingestId(),
                tree,
                work(),
                given.get(IngestFlags.DRY_RUN));
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return options;
    }

    private Optional<String> location(String text) {
        return location(text, Stores::normalize);
    }

    private Optional<String> location(String text, UnaryOperator<String> normalize) {
        try {
            return Optional.of(normalize.apply(text));
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return Optional.empty();
        }
    }

    private RowIngestOptions.Columns columns() {
        Map<String, String> types = pairs("--type", given.get(RowIngestFlags.TYPE), "type");
        types.forEach((column, type) -> {
            try {
                FieldType.parse(type);
            } catch (IllegalArgumentException e) {
                problems.add("option --type: column " + column + ": " + e.getMessage());
            }
        });
        return new RowIngestOptions.Columns(
                given.getOptional(RowIngestFlags.COLUMNS).map(NameList::parse),
                without(),
                pairs("--rename", given.get(RowIngestFlags.RENAME), "field"),
                NameList.parse(given.get(RowIngestFlags.KEY)),
                given.getOptional(RowIngestFlags.LABEL),
                types,
                contents(types),
                flags.payload(),
                given.getOptional(RowIngestFlags.SPLIT_BY),
                given.getOptional(RowIngestFlags.WHERE).flatMap(this::where));
    }

    private FileContents contents(Map<String, String> types) {
        ArrayList<FileContents.Column> columns = new ArrayList<>();
        pairs("--read", given.get(RowIngestFlags.READ), "field").forEach((column, field) -> {
            String type = types.getOrDefault(field, ScalarType.BINARY.canonical());
            if (!type.equals(ScalarType.BINARY.canonical()) && !type.equals(ScalarType.UTF8.canonical())) {
                problems.add("option --type: the field " + field + " has the content of files, which can be binary or"
                        + " utf8, not " + type);
            }
            columns.add(new FileContents.Column(column, field, type));
        });
        String root = given.getOptional(RowIngestFlags.READ_ROOT)
                .flatMap(this::location)
                .orElse("");
        if (columns.isEmpty() && !root.isEmpty()) {
            problems.add("--read-root needs --read COLUMN=FIELD, which names the column with the paths");
        }
        return new FileContents(columns, root, flags.choice(FileTree.Empty.class, IngestFlags.EMPTY));
    }

    private Optional<RowExpression> where(String text) {
        try {
            return Optional.of(RowExpression.parse(text));
        } catch (InvalidExpressionException e) {
            problems.add("option --where: " + e.getMessage());
            return Optional.empty();
        }
    }

    private List<String> without() {
        List<String> without = List.copyOf(given.get(RowIngestFlags.WITHOUT));
        List<String> taken =
                given.getOptional(RowIngestFlags.COLUMNS).map(NameList::parse).orElse(List.of());
        without.stream()
                .filter(taken::contains)
                .forEach(name -> problems.add("the column " + ShellText.word(name)
                        + " is given with --columns and with --without; leave one out"));
        return without;
    }

    /** Returns pairs of a column, whose name can have an equals sign, and of what it becomes. */
    private Map<String, String> pairs(String option, List<String> texts, String what) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String text : texts) {
            int equals = text.lastIndexOf('=');
            if (equals < 0 || equals == text.length() - 1) {
                problems.add("option " + option + ": " + text + " is not column=" + what);
            } else if (pairs.put(text.substring(0, equals), text.substring(equals + 1)) != null) {
                problems.add("option " + option + ": the column " + text.substring(0, equals) + " is given twice");
            }
        }
        return pairs;
    }

    private RowIngestOptions.Work work() {
        return new RowIngestOptions.Work(
                flags.chunkBytes(),
                flags.parallelism(),
                given.getOptional(RowIngestFlags.MEMORY)
                        .map(MemorySize::getBytes)
                        .orElse(0L),
                given.getOptional(RowIngestFlags.SORT_MEMORY)
                        .map(limit -> OptionalLong.of(limit.getBytes()))
                        .orElseGet(OptionalLong::empty));
    }
}

package dev.stoker.export;

import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.task.Writers;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.text.NameList;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses arguments into options and collects all problems. For one use. */
final class ExportOptionsParser {
    private static final Pattern EPOCH = Pattern.compile("epoch:([0-9]{1,18})");

    private final JobArguments arguments;
    private final GivenOptions given;
    private final List<String> problems;
    private final Optional<RowExpression> where;

    ExportOptionsParser(String... args) {
        arguments = JobArguments.parse(args, ExportFlags.all());
        given = arguments.options();
        problems = new ArrayList<>(arguments.problems());
        where = given.getOptional(ExportFlags.WHERE).flatMap(text -> expression(text, problems));
    }

    ExportOptions parse() {
        List<String> positional = arguments.positional();
        ExportOptions.Source source = noSource();
        String target = "";
        if (positional.size() != 2) {
            problems.add("an export takes a dataset and a target directory, such as ./data/photos ./photos-parquet");
        } else {
            source = source(positional.get(0));
            target = location(positional.get(1));
        }
        ExportOptions options = new ExportOptions(
                source,
                target,
                given.get(ExportFlags.OVERWRITE) ? TargetLocation.Existing.REPLACE : TargetLocation.Existing.REFUSE,
                files(),
                order(),
                work(),
                given.get(ExportFlags.DRY_RUN));
        if (!problems.isEmpty()) {
            throw new InvalidExportException(problems);
        }
        return options;
    }

    private ExportOptions.Files files() {
        String format = given.getOptional(ExportFlags.FORMAT).orElse("");
        if (!Writers.names().contains(format)) {
            problems.add("option --format: "
                    + (format.isEmpty() ? "it is not given; it" : format + " is unknown; the format")
                    + " is one of " + String.join(", ", Writers.names()));
        }
        ExportOptions.Layout layout = given.choice(ExportOptions.Layout.class, ExportFlags.LAYOUT, problems::add);
        if (layout == ExportOptions.Layout.HUGGINGFACE && !format.equals("parquet")) {
            problems.add("option --layout: huggingface is a layout of Parquet files; give --format parquet");
        }
        return new ExportOptions.Files(
                format,
                given.getOptional(ExportFlags.COMPRESSION),
                layout,
                given.getOptional(ExportFlags.COLUMNS).map(NameList::parse),
                renamed());
    }

    private ExportOptions.Source source(String text) {
        Optional<DatasetReference> found = DatasetReference.parse(text);
        if (found.isEmpty()) {
            problems.add("'" + text + "' is not DATASET[@version][:split]");
            return noSource();
        }
        DatasetReference typed = found.get();
        DatasetReference dataset = new DatasetReference(location(typed.path()), typed.version(), typed.split());
        Optional<VersionName> version = version();
        if (version.isPresent() && typed.version().isPresent() && !version.equals(typed.version())) {
            problems.add("@" + typed.version().get() + " and --version " + version.get()
                    + " give two versions; leave one out");
        } else if (version.isPresent()) {
            dataset = dataset.in(version.get());
        }
        Optional<String> asOf = given.getOptional(ExportFlags.AS_OF);
        if (asOf.isPresent() && version.isPresent()) {
            problems.add("--version and --as-of give two versions; leave one out");
        } else if (asOf.isPresent() && typed.version().isPresent()) {
            problems.add("@" + typed.version().get() + " and --as-of give two versions; leave one out");
        } else if (asOf.isPresent()) {
            try {
                dataset = dataset.asOf(VersionTimes.parse(asOf.get()));
            } catch (IllegalArgumentException e) {
                problems.add(e.getMessage());
            }
        }
        return new ExportOptions.Source(dataset, where);
    }

    private Optional<VersionName> version() {
        try {
            return given.getOptional(ExportFlags.VERSION).map(VersionName::new);
        } catch (IllegalArgumentException e) {
            problems.add("option --version: " + e.getMessage());
            return Optional.empty();
        }
    }

    private ExportOptions.Source noSource() {
        return new ExportOptions.Source(new DatasetReference("", Optional.empty(), Optional.empty()), where);
    }

    private static Optional<RowExpression> expression(String text, List<String> problems) {
        try {
            return Optional.of(RowExpression.parse(text));
        } catch (InvalidExpressionException e) {
            problems.add("option --where: " + e.getMessage());
            return Optional.empty();
        }
    }

    private String location(String text) {
        try {
            return Stores.normalize(text);
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return "";
        }
    }

    private Map<String, String> renamed() {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (String text : given.get(ExportFlags.RENAME)) {
            int equals = text.lastIndexOf('=');
            if (equals < 1 || equals == text.length() - 1) {
                problems.add("option --rename: " + text + " is not column=name");
            } else if (pairs.put(text.substring(0, equals), text.substring(equals + 1)) != null) {
                problems.add("option --rename: the column " + text.substring(0, equals) + " is given twice");
            }
        }
        return pairs;
    }

    private RowOrder order() {
        String text = given.get(ExportFlags.ORDER);
        Matcher epoch = EPOCH.matcher(text);
        if (epoch.matches()) {
            try {
                return new RowOrder.Epoch(Long.parseLong(epoch.group(1)), spec().toJson());
            } catch (IllegalArgumentException e) {
                problems.add(e.getMessage());
                return new RowOrder.Stored();
            }
        }
        if (!text.equals("stored")) {
            problems.add("option --order: " + text + " is not stored or epoch:N, such as epoch:0");
        }
        for (JobOption<?> option : ExportFlags.OF_EPOCHS.options()) {
            if (given.contains(option)) {
                problems.add("option " + option.flag() + " needs the order of an epoch: give --order epoch:N too");
            }
        }
        return new RowOrder.Stored();
    }

    private OrderSpec spec() {
        return new OrderSpec(
                given.get(ExportFlags.SEED),
                given.get(ExportFlags.BATCH_SIZE),
                given.get(ExportFlags.LANES),
                given.get(ExportFlags.SHUFFLE_WINDOW).getBytes(),
                given.choice(ShufflePolicy.class, ExportFlags.SHUFFLE, problems::add),
                given.choice(LaneOrder.class, ExportFlags.LANE_ORDER, problems::add));
    }

    private ExportOptions.Work work() {
        return new ExportOptions.Work(
                number(ExportFlags.SHARDS),
                Math.max(1, given.get(ExportFlags.SHARD_SIZE).getBytes()),
                number(ExportFlags.PARALLELISM));
    }

    private OptionalInt number(JobOption<Integer> option) {
        given.check(option, problems::add);
        return given.getOptional(option).map(OptionalInt::of).orElse(OptionalInt.empty());
    }
}

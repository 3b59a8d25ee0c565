package dev.stoker.ingest.rows.source;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.filter.LiteralComparison;
import dev.stoker.formats.partition.GivenColumn;
import dev.stoker.formats.partition.PartitionPath;
import dev.stoker.formats.values.TextValue;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.errors.ErrorText;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The columns that the directories of a source give, such as {@code day=2026-01-31}.
 *
 * @param types canonical type by name, in the order of the first path that has the name
 */
public record PathColumns(LinkedHashMap<String, String> types) implements Serializable {
    private static final long serialVersionUID = 1;

    /**
     * Finds the columns.
     *
     * @param declared types by column that the user declared
     * @throws InvalidIngestException if a value does not have the type that the user declared
     */
    public static PathColumns of(List<SourceFile> files, Map<String, String> declared) {
        Map<String, Set<Optional<String>>> values = new LinkedHashMap<>();
        for (SourceFile file : files) {
            parse(file)
                    .forEach((name, value) ->
                            values.computeIfAbsent(name, n -> new HashSet<>()).add(value));
        }
        LinkedHashMap<String, String> types = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        values.forEach((name, texts) -> {
            FieldType type = PartitionPath.type(texts);
            if (declared.containsKey(name) && TextValue.canBeText(FieldType.parse(declared.get(name)))) {
                type = FieldType.parse(declared.get(name));
                check(name, type, texts, problems);
            }
            types.put(name, type.canonical());
        });
        if (!problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        return new PathColumns(types);
    }

    private static void check(String name, FieldType type, Set<Optional<String>> texts, List<String> problems) {
        for (Optional<String> text : texts) {
            try {
                GivenColumn.ofDirectory(name, type, text.orElse(null)).give(new LiteralComparison(null));
            } catch (BadValueException e) {
                problems.add("option --type: the directory " + name + "=" + text.orElse("") + ": " + e.getMessage());
                return;
            }
        }
    }

    private static Map<String, Optional<String>> parse(SourceFile file) {
        try {
            return PartitionPath.parse(file.path());
        } catch (IllegalArgumentException e) {
            throw new InvalidIngestException(ErrorText.of(e));
        }
    }

    /** Returns the columns of a file. */
    public List<GivenColumn> of(SourceFile file) {
        if (types.isEmpty()) {
            return List.of();
        }
        List<GivenColumn> given = new ArrayList<>();
        parse(file).forEach((name, value) -> {
            String type = Objects.requireNonNull(types.get(name), "the types have the names of all paths");
            given.add(GivenColumn.ofDirectory(name, FieldType.parse(type), value.orElse(null)));
        });
        return given;
    }
}

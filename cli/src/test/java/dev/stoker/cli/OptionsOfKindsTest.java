package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.Errors;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.topic.TopicIngestOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.OptionSpec;

/** Each option of {@code stoker ingest}, given to each kind of source: it works, or the refusal says what to use. */
class OptionsOfKindsTest {
    /** Options of the command itself, which no job sees. */
    private static final TreeSet<String> OF_ALL_VERBS = new TreeSet<>(List.of("--help", "--json", "--no-index"));

    /** Values, and the options that an option needs. The others have no value. */
    private static final Map<String, String> VALUES = new LinkedHashMap<>();

    static {
        for (String option : List.of(
                "label-from=parent-dir",
                "label-field=class",
                "field=data",
                "sidecar=.txt=text:utf8",
                "payload=none",
                "split=val=0.1",
                "split-from=top-dir",
                "order=listed",
                "ingest-seed=1",
                "chunk-size=1mb",
                "name=other",
                "on-duplicate=skip",
                "ingest-id=0190a000-0000-7000-8000-000000000001",
                "limit=1",
                "on-error=skip",
                "links=skip",
                "hidden=skip",
                "empty=skip",
                "include=*",
                "exclude=*.db",
                "parallelism=1",
                "read-threads=2",
                "read-ahead=2",
                "format=csv",
                "columns=v",
                "without=w",
                "rename=v=value",
                "label=w",
                "type=v=int8",
                "read=path=content",
                "read-root=DIRECTORY --read path=content",
                "split-by=w",
                "where=v > 0",
                "part-memory=1gb",
                "sort-memory=1gb",
                "exclude-keys-from=DIRECTORY/keys.txt",
                "value=json",
                "commit-interval=5s",
                "from=latest",
                "until=latest",
                "key=record",
                "tombstones=skip",
                "key-field=k",
                "header=h",
                "timestamp=t",
                "schema=v:int8",
                "avro-schema=DIRECTORY/a.avsc --value=avro",
                "avro-wire=plain --value=avro --avro-schema=DIRECTORY/a.avsc",
                "schema-registry=http://a --value=avro",
                "dead-letters=DIRECTORY/letters",
                "max-dead-letters=5",
                "kafka-config=DIRECTORY/kafka.properties")) {
            VALUES.put("--" + option.substring(0, option.indexOf('=')), option.substring(option.indexOf('=') + 1));
        }
    }

    private static final Pattern REFUSAL =
            Pattern.compile("option (--[a-z-]+) is for (.*), not for (trees of files|rows|topics); (.*)");

    @TempDir
    private Path directory;

    @BeforeEach
    void create() throws IOException {
        Files.createDirectories(directory.resolve("tree/cat"));
        Files.writeString(directory.resolve("tree/cat/1.jpg"), "image");
        Files.writeString(directory.resolve("tree/cat/1.txt"), "text");
        Files.writeString(directory.resolve("t.csv"), "path,v,w\nkeys.txt,1,x\n");
        Files.writeString(directory.resolve("keys.txt"), "cat/2.jpg\n");
        Files.writeString(directory.resolve("kafka.properties"), "client.id=a\n");
        Files.writeString(
                directory.resolve("a.avsc"),
                "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"v\",\"type\":\"int\"}]}");
    }

    static Stream<String> options() {
        return Stoker.command().getSubcommands().get("ingest").getCommandSpec().options().stream()
                .map(OptionSpec::longestName)
                .filter(name -> !OF_ALL_VERBS.contains(name));
    }

    private List<String> words(String option, OptionKinds.Kind kind) {
        String value = VALUES.getOrDefault(option, "").replace("DIRECTORY", directory.toString());
        if (option.equals("--key") && kind == OptionKinds.Kind.ROWS) {
            value = "v";
        }
        List<String> words = new ArrayList<>(List.of(option));
        String[] parts = value.split(" (?=--)");
        if (!parts[0].isEmpty()) {
            words.add(parts[0]);
        }
        for (int i = 1; i < parts.length; i++) {
            words.addAll(List.of(parts[i].split("[ =]", 2)));
        }
        return words;
    }

    /** Returns what an ingest of a kind says; empty if it accepts the option. */
    private String said(OptionKinds.Kind kind, String option) {
        List<String> args = new ArrayList<>();
        if (kind == OptionKinds.Kind.TOPIC) {
            // The plan needs a broker.
            args.addAll(List.of("kafka://a:1/t", directory.resolve("data").toString()));
            args.addAll(words(option, kind));
            if (!args.toString().contains("--value")) {
                args.addAll(List.of("--value", option.equals("--schema") ? "json" : "raw"));
            }
            if (option.equals("--on-duplicate")) {
                args.addAll(List.of("--key", "record"));
            }
            try {
                TopicIngestOptions.parse(args.toArray(String[]::new));
                return "";
            } catch (InvalidIngestException e) {
                return String.join("\n", e.problems());
            }
        }
        String source = kind == OptionKinds.Kind.FILES ? "tree" : "t.csv";
        args.addAll(List.of(
                "ingest",
                directory.resolve(source).toString(),
                directory.resolve("data").toString()));
        args.addAll(words(option, kind));
        if (kind == OptionKinds.Kind.FILES && !option.equals("--format")) {
            args.addAll(List.of("--format", "files"));
        } else if (kind == OptionKinds.Kind.ROWS && !option.equals("--format")) {
            args.addAll(List.of("--format", "csv"));
        }
        args.add("--dry-run");
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        return Stoker.run(args, out, out) == 0 ? "" : said.toString();
    }

    @ParameterizedTest
    @MethodSource("options")
    void worksOrIsRefusedWithTheNextStep(String option) {
        for (OptionKinds.Kind kind : OptionKinds.Kind.values()) {
            String said = said(kind, option);
            Matcher refusal = REFUSAL.matcher(said);
            boolean isRefused = refusal.find();
            if (isRefused) {
                assertThat(refusal.group(1)).isEqualTo(option);
                assertThat(said).doesNotContain("unknown option");
                requireHelps(kind, refusal.group(4));
            } else if (option.equals("--append") || option.equals("--format")) {
                assertThat(said).as("%s for %s", option, kind).doesNotContain("unknown option");
            } else {
                assertThat(said).as("%s for %s", option, kind).isEmpty();
            }
        }
    }

    @Test
    void rowsAreLeftOutByACondition() {
        String table = directory.resolve("t.csv").toString();
        String keys = directory.resolve("keys.txt").toString();
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        String target = directory.resolve("data").toString();
        assertThat(Stoker.run(List.of("ingest", table, target, "--exclude-keys-from", keys), out, out))
                .isEqualTo(Errors.USAGE);
        assertThat(said.toString())
                .contains("option --exclude-keys-from is for trees of files, not for rows; --where CONDITION selects"
                        + " rows, as in --where \"id NOT IN (3, 5)\"");
        assertThat(Stoker.run(
                        List.of("ingest", table, target, "--where", "v NOT IN (3, 5)", "--parallelism", "1"), out, out))
                .isZero();
    }

    /** A refusal recommends only options that the kind has. */
    private void requireHelps(OptionKinds.Kind kind, String advice) {
        Matcher option = Pattern.compile("(?<!leave out )(--[a-z-]+)").matcher(advice);
        while (option.find()) {
            assertThat(said(kind, option.group(1)))
                    .as("%s for %s", advice, kind)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("options")
    void hasAValueInThisTest(String option) {
        OptionSpec spec = Stoker.command()
                .getSubcommands()
                .get("ingest")
                .getCommandSpec()
                .optionsMap()
                .get(option);
        assertThat(VALUES.containsKey(option)).as(option).isEqualTo(spec.arity().min() > 0);
    }
}

package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.look.CatVerb;
import dev.stoker.cli.look.GetVerb;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Style;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Data that would control a terminal, or pretend to be output of the command, in everything that a verb prints. */
class HostileDataTest {

    /** Clears the screen, sets the title, turns the direction of writing, and begins a line. */
    private static final String HOSTILE = "x\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\b\nFORGED: all is well";

    @TempDir
    private Path directory;

    private Path dataset;

    private void create() throws IOException {
        dataset = directory.resolve("da\u001b[2Jta\u202e");
        List<Field> fields = List.of(
                Field.small("label", FieldType.parse("categorical")),
                Field.nullable("te\u202ext", FieldType.parse("utf8")),
                Field.nullable("tags", FieldType.parse("utf8[]")),
                Field.payload("image", FieldType.parse("binary")));
        AnyDataset made = AnyDataset.create(dataset, HOSTILE, fields).by(HOSTILE);
        for (int version = 0; version < 3; version++) {
            int number = version;
            made.append("train", row -> add(row, HOSTILE + number));
        }
    }

    private static void add(ChunkBuilder row, String text) {
        row.beginRow(text);
        row.setClass(0, text);
        row.setString(1, text);
        row.setStrings(2, List.of(text));
        row.setBytes(3, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        row.endRow();
    }

    @Test
    void noVerbLetsDataControlTheTerminal() throws IOException {
        create();
        Path tree = directory.resolve("tree");
        Files.createDirectories(tree.resolve("c\u001b[2J"));
        Files.writeString(tree.resolve("c\u001b[2J/a\u202e.jpg"), "purr");
        Path updates = directory.resolve("updates.jsonl");
        Files.writeString(
                updates,
                Json.object().put("key", HOSTILE + 0).put("label", HOSTILE + 9) + "\n",
                StandardCharsets.UTF_8);
        Path work = Files.createDirectories(directory.resolve("work"));
        SoftAssertions every = new SoftAssertions();
        for (List<String> args : EveryVerb.of(dataset, HOSTILE + 0, tree, updates, work)) {
            if (args.get(0).equals("cat")) {
                // Prints contents; see below.
                continue;
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            int code = Stoker.run(
                    args,
                    Files.createDirectories(directory.resolve("home")),
                    Files.createDirectories(directory.resolve("tmp")),
                    out,
                    new PrintStream(err, true, StandardCharsets.UTF_8));
            String printed = out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
            every.assertThat(code).as("%s: %s", args, printed).isZero();
            every.assertThat(terminal(printed)).as("%s: %s", args, printed).isEmpty();
            every.assertThat(printed.lines().filter(line -> line.startsWith("FORGED")))
                    .as("%s", args)
                    .isEmpty();
            // The plans of these two are text.
            if (args.contains("--json") && !List.of("ingest", "export").contains(args.get(0))) {
                for (String line : out.toString(StandardCharsets.UTF_8).split("\n")) {
                    Json.PLAIN.readTree(line);
                }
            }
        }
        every.assertAll();
    }

    /** Returns the first character that a terminal interprets. */
    private static Optional<String> terminal(String text) {
        return text.chars()
                .filter(c -> c != '\n' && c != '\t' && KeyText.isInvisible(c))
                .mapToObj(c -> String.format("%04x", c))
                .findFirst();
    }

    @Test
    void jsonHasTheSameValues() throws IOException {
        create();
        StringWriter out = new StringWriter();
        assertThat(Stoker.run(
                        List.of("get", dataset.toString(), HOSTILE + 1, "--json"),
                        new PrintWriter(out, true),
                        new PrintWriter(out, true)))
                .isZero();
        JsonNode sample = Json.PLAIN.readTree(out.toString());
        assertThat(sample.path("key").asText()).isEqualTo(HOSTILE + 1);
        assertThat(sample.at("/fields/label").asText()).isEqualTo(HOSTILE + 1);
        assertThat(sample.at("/fields/te\u202ext").asText()).isEqualTo(HOSTILE + 1);
        assertThat(sample.at("/fields/tags/0").asText()).isEqualTo(HOSTILE + 1);
    }

    @Test
    void contentsThatWouldControlATerminalAreNotPrintedToOne() throws IOException {
        create();
        for (boolean isTerminal : new boolean[] {true, false}) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            StringWriter err = new StringWriter();
            for (Object verb : List.of(new GetVerb(out, () -> isTerminal), new CatVerb(out, () -> isTerminal))) {
                int code = new CommandLine(verb)
                        .setErr(new PrintWriter(err, true))
                        .setExecutionExceptionHandler(Errors::failed)
                        .execute(dataset.toString(), HOSTILE + 1);
                assertThat(code).isEqualTo(isTerminal ? 1 : 0);
            }
            assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(isTerminal ? "" : (HOSTILE + 1).repeat(2));
            assertThat(terminal(err.toString())).isEmpty();
        }
    }

    @Test
    void aLiveTableKeepsOnlyColours() {
        String painted = Style.COLOURED.paint(Style.Tone.BAD, "31 %") + " of \u001b[2J\u009bm\n";
        assertThat(Style.safe(painted)).isEqualTo("\u001b[31m31 %\u001b[0m of \\u001b[2J\\u009bm\n");
    }
}

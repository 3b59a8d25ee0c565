package dev.stoker.schemas.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AdviceTest {
    @TempDir
    private Path directory;

    private Path main;
    private Path tests;

    @BeforeEach
    void write() throws IOException {
        main = Files.createDirectory(directory.resolve("main"));
        tests = Files.createDirectory(directory.resolve("tests"));
        Files.writeString(tests.resolve("GoodTest.java"), "void follows() { in(said, \"--key\"); }");
    }

    private List<String> differences(String source, String... lines) throws IOException {
        Files.writeString(main.resolve("A.java"), source);
        Path register = Files.write(directory.resolve("advice.tsv"), List.of(lines));
        return Advice.differences(register, tests, main);
    }

    @Test
    void takesAnOptionAsAShellDoes() {
        assertThat(Advice.in("give --key a,b, or --type 'it'\\''s=int8'; see", "--key"))
                .containsExactly("--key", "a,b");
        assertThat(Advice.in("give --key a, or --type 'it'\\''s=int8'; see", "--type"))
                .containsExactly("--type", "it's=int8");
        assertThat(Advice.in("(resume with --ingest-id x-1)", "--ingest-id")).containsExactly("--ingest-id", "x-1");
    }

    @Test
    void aLineNeedsATestOrAReason() throws IOException {
        String source = "say(\"name it with --key\");";
        assertThat(differences(source)).hasSize(1);
        assertThat(differences(source, "A\t--key\tGoodTest#follows")).isEmpty();
        assertThat(differences(source, "A\t--key\treason: it needs a cluster")).isEmpty();
        assertThat(differences(source, "A\t--key\t-"))
                .containsExactly("A --key is registered for -, which is neither a test nor a reason");
        assertThat(differences(source, "A\t--key\treason: ")).containsExactly("A --key is registered without a reason");
        assertThat(differences(source, "A\t--key\tGoodTest#other")).hasSize(1);
        assertThat(differences(source, "A\t--key\tGoodTest#follows", "A\t--type\tGoodTest#follows"))
                .hasSize(1);
    }

    @Test
    void theOptionThatIsWrongAndNotesAreNoAdvice() throws IOException {
        assertThat(differences("""
                say("option --key: it is wrong");
                say("--key and --type cannot be given together");
                say("2 rows satisfy --where");
                """)).isEmpty();
        assertThat(differences("say(\"option --key: it needs --type\");")).hasSize(1);
        assertThat(differences("ShellText.names(\n    \"--columns\", names)")).hasSize(1);
    }

    @Test
    void helpIsNoAdvice() throws IOException {
        assertThat(differences("""
                @Command(name = "a", header = {"Examples:", "  stoker ls (x) --key k"}, description = "See --type")
                class A {
                    @Option(
                            names = "--key",
                            description = "With --type: " // or --other
                                    + "see --where.")
                    @CommandLine.Parameters(description = "As for --key")
                    private String key; // --comment
                    /* --comment */
                }
                """)).isEmpty();
        assertThat(differences("@Option(names = \"--key\") void f() { say(\"give --type\"); }"))
                .hasSize(1);
        assertThat(differences("@Override public String toString() { return \"give --type\"; }"))
                .hasSize(1);
    }

    @Test
    void aTextThatIsJoinedIsOne() throws IOException {
        assertThat(differences("say(\"option \" + \"--key: it is\"\n + \" wrong\")"))
                .isEmpty();
        assertThat(differences("say(name, \"option \", \"--key is wrong\")")).hasSize(1);
    }

    @Test
    void takesACommandAsAShellDoes() {
        assertThat(Advice.command("build it with: stoker index 'my data' --rebuild", "stoker index"))
                .containsExactly("index", "my data", "--rebuild");
        assertThat(Advice.command("see `stoker ps --all`, or", "stoker ps")).containsExactly("ps", "--all");
        assertThat(Advice.command("run stoker verify /a/b: all\nof it", "stoker verify"))
                .containsExactly("verify", "/a/b");
        assertThat(Advice.command("see stoker tag x\nfor y", "stoker tag")).containsExactly("tag", "x");
    }

    @Test
    void aCommandIsRegisteredLikeAnOption() throws IOException {
        Files.writeString(tests.resolve("VerbTest.java"), "void follows() { run(\"index\"); }");
        Path register = Files.writeString(directory.resolve("advice.tsv"), "A\tstoker index\tVerbTest#follows\n");
        Path source = main.resolve("A.java");
        Set<String> verbs = Set.of("index", "expire", "ls");
        Files.writeString(source, "say(\"build it with: stoker index \" + path); label(\"stoker ls\");");
        assertThat(Advice.differences(register, List.of(tests), verbs, main)).isEmpty();
        Files.writeString(source, "say(\"not protected from stoker expire; stoker index adds them\")");
        assertThat(Advice.differences(register, List.of(tests), verbs, main)).isEmpty();
        Files.writeString(source, "say(\"see stoker index, or stoker ls\")");
        assertThat(Advice.differences(register, List.of(tests), verbs, main)).hasSize(1);
    }
}

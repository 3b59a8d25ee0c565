package dev.stoker.schemas.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
}

package dev.stoker.cli.help;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Model.OptionSpec;

class CompletionVerbTest {

    @TempDir
    private Path directory;

    private static String script(String shell) {
        StringWriter out = new StringWriter();
        assertThat(Stoker.run(List.of("completion", shell), new PrintWriter(out), new PrintWriter(out)))
                .isZero();
        return out.toString();
    }

    /** Returns what a real bash offers for the last of these words. */
    private List<String> completed(String... words) throws IOException, InterruptedException {
        Path script = directory.resolve("stoker.bash");
        Files.writeString(script, script("bash"));
        String test = "set -e; . \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_LINE=\"$*\";"
                + " COMP_POINT=${#COMP_LINE}; _complete_stoker || true; printf '%s\\n' \"${COMPREPLY[@]}\"";
        List<String> command =
                new ArrayList<>(List.of("bash", "--noprofile", "--norc", "-c", test, "bash", script.toString()));
        command.addAll(List.of(words));
        Process bash = new ProcessBuilder(command)
                .directory(directory.toFile())
                // Without a terminal bash says that it completes nothing now.
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(said).isZero();
        return said.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }

    @Test
    void bashCompletesVerbs() throws IOException, InterruptedException {
        assertThat(completed("stoker", "in")).containsExactlyInAnyOrder("index", "info", "ingest");
        assertThat(completed("stoker", ""))
                .containsAll(Stoker.command().getSubcommands().keySet());
    }

    @Test
    void bashCompletesTheOptionsOfAVerb() throws IOException, InterruptedException {
        assertThat(completed("stoker", "feed", "--tls"))
                .containsExactlyInAnyOrder("--tls-cert", "--tls-key", "--tls-client-ca");
        List<String> options = Stoker.command().getSubcommands().get("ingest").getCommandSpec().options().stream()
                .map(OptionSpec::longestName)
                .toList();
        assertThat(completed("stoker", "ingest", "--")).containsExactlyInAnyOrderElementsOf(options);
    }

    @Test
    void bashOffersTheValuesOfAnOptionWithAFewValues() throws IOException, InterruptedException {
        assertThat(completed("stoker", "compact", "--order", "")).containsExactlyInAnyOrder("shuffled", "kept");
    }

    @Test
    void zshLoadsTheScriptOfBash() {
        assertThat(script("zsh")).contains("bashcompinit").isEqualTo(script("bash"));
    }

    @Test
    void fishHasEachVerbAndOption() {
        String script = script("fish");
        Stoker.command().getSubcommands().forEach((name, verb) -> {
            assertThat(script).contains("complete -c stoker -n __fish_use_subcommand -a " + name + " ");
            for (OptionSpec option : verb.getCommandSpec().options()) {
                assertThat(script).contains("'__fish_seen_subcommand_from " + name + "' -");
                assertThat(script).contains(" -l " + option.longestName().substring(2) + " ");
            }
        });
    }

    @Test
    void anotherShellIsRefused() {
        StringWriter err = new StringWriter();
        assertThat(Stoker.run(List.of("completion", "tcsh"), new PrintWriter(err), new PrintWriter(err, true)))
                .isEqualTo(2);
        assertThat(err.toString()).contains("bash, zsh, fish");
    }
}

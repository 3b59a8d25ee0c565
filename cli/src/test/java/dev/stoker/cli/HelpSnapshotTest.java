package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code help.txt} has the help of the command, of every verb, and of every measurement of {@code bench}. */
class HelpSnapshotTest {

    @Test
    void eachHelpIsAsRecorded() throws IOException {
        StringBuilder helps = new StringBuilder();
        add(helps, List.of(), Stoker.command());
        Recorded.check(Recorded.SNAPSHOTS.resolve("help.txt"), helps.toString(), HelpSnapshotTest.class);
    }

    private static void add(StringBuilder helps, List<String> words, CommandLine command) {
        List<String> args = new ArrayList<>(words);
        args.add("--help");
        helps.append("$ stoker ").append(String.join(" ", args)).append('\n');
        helps.append(help(args)).append('\n');
        command.getSubcommands().forEach((name, below) -> {
            List<String> longer = new ArrayList<>(words);
            longer.add(name);
            add(helps, longer, below);
        });
    }

    /** Returns a help without the colours that a terminal would get, with the same ends of lines everywhere. */
    private static String help(List<String> args) {
        StringWriter out = new StringWriter();
        assertThat(Stoker.run(args, new PrintWriter(out), new PrintWriter(out))).isZero();
        return out.toString().replaceAll("\u001B\\[[0-9;]*m", "").replace(System.lineSeparator(), "\n");
    }
}

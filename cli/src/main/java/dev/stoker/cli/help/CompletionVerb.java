package dev.stoker.cli.help;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker completion}: the script by which a shell completes verbs and options. */
@Command(
        name = "completion",
        header = {"Examples:", "  source <(stoker completion bash)", "  stoker completion fish | source"},
        description = {
            "Prints a script that completes verbs and options in a shell. It also completes file names.",
            "Load it in ~/.bashrc or ~/.zshrc, or write it to a file there to save the start of Java."
        },
        sortOptions = false)
public final class CompletionVerb implements Callable<Integer> {

    /** The shells, as typed. */
    enum Shell {
        bash,
        zsh,
        fish
    }

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
    private Shell shell;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        CommandLine command = spec.root().commandLine();
        // The script of bash also serves zsh: it loads zsh's emulation of bash's completion.
        out.println(shell == Shell.fish ? fish(command) : AutoComplete.bash("stoker", command));
        out.flush();
        return 0;
    }

    private static String fish(CommandLine command) {
        StringBuilder script = new StringBuilder("# Completion of stoker for fish\n");
        fish(script, command, "__fish_use_subcommand");
        return script.toString();
    }

    /** @param condition when fish offers the verbs of this command */
    private static void fish(StringBuilder script, CommandLine command, String condition) {
        command.getSubcommands().forEach((name, verb) -> {
            String seen = "'__fish_seen_subcommand_from " + name + "'";
            script.append("complete -c stoker -n ")
                    .append(condition)
                    .append(" -a ")
                    .append(name)
                    .append(" -d ")
                    .append(quoted(HelpLayout.summary(verb.getCommandSpec())))
                    .append('\n');
            for (OptionSpec option : verb.getCommandSpec().options()) {
                script.append("complete -c stoker -n ").append(seen);
                for (String form : option.names()) {
                    script.append(form.startsWith("--") ? " -l " : " -s ").append(form.replaceFirst("^-+", ""));
                }
                List<String> values = JobOptions.values(option.paramLabel());
                if (!values.isEmpty()) {
                    script.append(" -x -a ").append(quoted(String.join(" ", values)));
                }
                script.append(values.isEmpty() && option.arity().max() > 0 ? " -r" : "")
                        .append(" -d ")
                        .append(quoted(String.join(" ", option.description())))
                        .append('\n');
            }
            fish(script, verb, seen);
        });
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}

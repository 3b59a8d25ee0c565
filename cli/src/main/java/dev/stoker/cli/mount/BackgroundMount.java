package dev.stoker.cli.mount;

import dev.stoker.cli.output.CommandException;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/** Starts the same command once more, in another session, and waits until its mount can be used. */
final class BackgroundMount {

    private static final String OPTION = "--background";

    private final Path directory;
    private final CommandLine command;

    BackgroundMount(Path directory, CommandLine command) {
        this.directory = directory;
        this.command = command;
    }

    /** Returns the exit code. */
    int start() throws IOException {
        String installed = System.getProperty("stoker.dist");
        if (installed == null) {
            throw new CommandException(OPTION + " needs the launcher bin/stoker");
        }
        StokerHome.requireDirectory();
        Path folder = PrivateFiles.createDirectories(StokerHome.directory().resolve("logs"));
        Path output = Files.createTempFile(folder, "mount-output-", ".log");
        List<String> words = new ArrayList<>(List.of("setsid", installed + "/bin/stoker"));
        words.addAll(Objects.requireNonNull(command.getParent(), "the command stoker")
                .getParseResult()
                .originalArgs());
        words.remove(OPTION);
        Process process = new ProcessBuilder(words)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .start();
        try {
            while (true) {
                boolean hasEnded = process.waitFor(50, TimeUnit.MILLISECONDS);
                String text = Files.readString(output, StandardCharsets.UTF_8);
                if (hasEnded) {
                    command.getErr().print(text);
                    Files.deleteIfExists(output);
                    return process.exitValue();
                }
                if (text.contains("mounted ") && text.endsWith("\n")) {
                    command.getOut().println(text.strip().replace("; Ctrl-C or stoker unmount", "; stoker unmount"));
                    command.getOut().println("its messages are in " + output);
                    return 0;
                }
            }
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while mounting " + directory);
        }
    }
}

package dev.stoker.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs unmodified programs in other processes: this process serves the file system and must not wait for itself.
 */
public final class Shell {

    private static final int SECONDS = 60;

    private Shell() {}

    /**
     * What a program has done.
     *
     * @param code its exit code
     * @param output its standard output and error
     */
    public record Result(int code, String output) {

        public List<String> lines() {
            return output.lines().toList();
        }
    }

    /** Runs a line of a shell in a directory. */
    public static Result run(Path directory, String line) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", line)
                .directory(directory.toFile())
                .redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C.UTF-8");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException(line + " does not end");
        }
        return new Result(process.exitValue(), output);
    }

    /** Runs a line that must succeed, and returns its output. */
    public static String ok(Path directory, String line) throws IOException, InterruptedException {
        Result result = run(directory, line);
        assertThat(result.code()).as("%s: %s", line, result.output()).isZero();
        return result.output();
    }
}

package dev.stoker.cli.samples;

import dev.stoker.cli.redis.RedisAddresses;
import dev.stoker.metadata.Dataset;
import java.net.URI;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The Redis server that knows places of samples. */
public final class RedisOption {

    /** Names the server for commands without the option; a command line is visible to other users. */
    static final String VARIABLE = "STOKER_REDIS";

    @Option(
            names = "--redis",
            paramLabel = "URL",
            description = "Redis server with the places of the samples: redis://host:port. Its answers are checked."
                    + " Default: $STOKER_REDIS.")
    private @Nullable String url;

    /** Returns the server that the command line or the environment names. */
    public Optional<RedisAddresses> open(Dataset dataset) {
        return open(url, dataset);
    }

    /**
     * Returns the jars that a cluster needs to load places. It gets them beside the jar of the jobs, which stays small
     * for everybody else.
     */
    public static List<Path> jars() {
        List<Path> jars = new ArrayList<>();
        for (Class<?> of : RedisAddresses.classesOfJars()) {
            CodeSource source = of.getProtectionDomain().getCodeSource();
            if (source == null) {
                throw new IllegalStateException("Nothing says which jar has " + of);
            }
            jars.add(Path.of(URI.create(source.getLocation().toString())));
        }
        return jars;
    }

    /** Rejects the option beside another one. */
    public void requireNone(String option) {
        if (url != null) {
            throw new IllegalArgumentException("--redis and " + option + " exclude each other");
        }
    }

    /** Returns the server that the environment names. */
    public static Optional<RedisAddresses> ofEnvironment(Dataset dataset) {
        return open(null, dataset);
    }

    private static Optional<RedisAddresses> open(@Nullable String typed, Dataset dataset) {
        String known = typed == null ? System.getenv(VARIABLE) : typed;
        if (known == null || known.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(RedisAddresses.open(known, dataset.info().id()));
        } catch (IllegalArgumentException e) {
            // Without the cause, whose message does not name the option.
            throw new IllegalArgumentException(
                    (typed == null ? "variable " + VARIABLE : "option --redis") + ": " + e.getMessage());
        }
    }
}

package dev.stoker.client;

import dev.stoker.client.transport.LocalTransport;
import dev.stoker.schemas.protocol.parts.Instance;
import dev.stoker.schemas.protocol.parts.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/** Describes this process and its launcher for HELLO. */
final class Processes {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final int MAX_NAME = 255;
    private static final int MAX_BOOT = 64;

    private Processes() {}

    /** Describes the calling process. */
    static Instance instance(Map<String, String> environment) {
        String host = name(hostName(environment));
        host = host.isEmpty() ? "unknown" : host;
        ProcessHandle process = ProcessHandle.current();
        long start = process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        String boot = LocalTransport.hostId().orElse(host);
        return new Instance(
                boot.substring(0, Math.min(boot.length(), MAX_BOOT)), process.pid(), Math.max(0, start), host);
    }

    private static String hostName(Map<String, String> environment) {
        try {
            return Files.readString(HOST_NAME).strip();
        } catch (IOException e) {
            return environment.getOrDefault("HOSTNAME", "");
        }
    }

    /**
     * Describes the launch by torchrun or Slurm; empty without either, and for torchrun's default id, which identifies
     * no job.
     */
    static Optional<Launch> launch(Map<String, String> environment) {
        String elastic = name(environment.getOrDefault("TORCHELASTIC_RUN_ID", ""));
        if (!elastic.isEmpty() && !elastic.equals("none")) {
            return Optional.of(new Launch("torchelastic", elastic, count(environment, "TORCHELASTIC_RESTART_COUNT")));
        }
        String slurm = name(environment.getOrDefault("SLURM_JOB_ID", ""));
        return slurm.isEmpty()
                ? Optional.empty()
                : Optional.of(new Launch("slurm", slurm, count(environment, "SLURM_RESTART_COUNT")));
    }

    /** A launcher sets a number. Another text would make a start look like the first one. */
    private static int count(Map<String, String> environment, String variable) {
        String text = environment.getOrDefault(variable, "");
        if (text.isEmpty()) {
            return 0;
        }
        if (!text.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException(variable + "=" + text
                    + " is not a number of restarts; unset it, or set the number of earlier starts of the job");
        }
        return Integer.parseInt(text);
    }

    private static String name(String text) {
        String visible = text.codePoints()
                .filter(c -> !Character.isISOControl(c))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return visible.substring(0, Math.min(visible.length(), MAX_NAME));
    }
}

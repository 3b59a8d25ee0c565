package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.junit.jupiter.api.Test;

class RpcSystemITCase {

    /** Without it the command still works, but it unpacks 24 MB at each start and loads 700 classes from there. */
    @Test
    void isInTheDistribution() throws Exception {
        Path jar = Path.of("..", "target", "dist", "lib", "rpc", "flink-rpc-akka.jar");
        assertThat(jar).exists();
        try (URLClassLoader classes =
                new URLClassLoader(new URL[] {jar.toUri().toURL()}, RpcSystem.class.getClassLoader())) {
            assertThat(ServiceLoader.load(RpcSystem.class, classes)).isNotEmpty();
        }
        assertThat(Files.readString(Path.of("..", "target", "dist", "bin", "stoker")))
                .contains("$dist/lib/rpc/*");
    }
}

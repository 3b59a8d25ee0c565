package dev.stoker.schemas.attack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files that were committed once: today's writer must make the same bytes. A file that is missing is written when
 * {@code -Dtest.golden=write} is given (through {@code -Dtest.jvm.args}), and the test fails nevertheless.
 */
public final class Golden {

    private static final Path FOLDER = Path.of("src/test/resources/golden");

    private Golden() {}

    /** The content of a golden file. */
    public static byte[] read(String name) throws IOException {
        try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name)) {
            assertThat(in).as("golden file " + name).isNotNull();
            return in.readAllBytes();
        }
    }

    /** Demands that the golden file has exactly these bytes. */
    public static void check(String name, byte[] written) throws IOException {
        Path file = FOLDER.resolve(name);
        if ("write".equals(System.getProperty("test.golden")) && !Files.exists(file)) {
            Files.createDirectories(file.getParent());
            Files.write(file, written);
            throw new AssertionError("Wrote the golden file " + file + "; look at it and commit it");
        }
        assertThat(written).as("golden file " + name).isEqualTo(read(name));
    }
}

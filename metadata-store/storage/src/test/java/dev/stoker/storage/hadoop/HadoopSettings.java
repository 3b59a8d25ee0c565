package dev.stoker.storage.hadoop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Hadoop's configuration of a test. */
public final class HadoopSettings {

    private HadoopSettings() {}

    /**
     * Writes a {@code core-site.xml}; the directory is good as {@code HADOOP_CONF_DIR} of another process.
     *
     * @return the directory
     */
    public static Path write(Path directory, Map<String, String> settings) throws IOException {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\"?>\n<configuration>\n");
        settings.forEach((name, value) -> xml.append("  <property><name>")
                .append(name)
                .append("</name><value>")
                .append(value.replace("&", "&amp;").replace("<", "&lt;"))
                .append("</value></property>\n"));
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("core-site.xml"), xml.append("</configuration>\n"));
        return directory;
    }

    /** Makes all stores that this process opens from now on use these settings. */
    public static void use(Map<String, String> settings) throws IOException {
        Path directory = write(
                Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "hadoop-conf"), settings);
        System.setProperty(StoreConfiguration.DIRECTORY_PROPERTY, directory.toString());
    }

    /** Undoes {@link #use}. */
    public static void clear() {
        String directory = System.clearProperty(StoreConfiguration.DIRECTORY_PROPERTY);
        if (directory != null) {
            try {
                Files.deleteIfExists(Path.of(directory, "core-site.xml"));
                Files.deleteIfExists(Path.of(directory));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

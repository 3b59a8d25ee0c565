package dev.stoker.ingest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Trees of files to ingest. */
final class Trees {

    private Trees() {}

    /** Creates files of random bytes, in directories that name their classes; returns the bytes by key. */
    static Map<String, byte[]> images(Path root, int classes, int perClass, int size) throws IOException {
        return images(root, "c", classes, perClass, size);
    }

    static Map<String, byte[]> images(Path root, String prefix, int classes, int perClass, int size)
            throws IOException {
        Random random = new Random(prefix.hashCode());
        Map<String, byte[]> files = new TreeMap<>();
        for (int c = 0; c < classes; c++) {
            String directory = prefix + c + (c % 3 == 0 ? "/deep" : "");
            Files.createDirectories(root.resolve(directory));
            for (int i = 0; i < perClass; i++) {
                byte[] bytes = new byte[1 + random.nextInt(2 * size)];
                random.nextBytes(bytes);
                String key = directory + "/" + i + ".jpg";
                Files.write(root.resolve(key), bytes);
                files.put(key, bytes);
            }
        }
        return files;
    }

    static void file(Path root, String key, String text) throws IOException {
        Path file = root.resolve(key);
        Files.createDirectories(file.getParent());
        Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    }
}

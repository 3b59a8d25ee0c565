package dev.stoker.cli;

import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** All files and directories below some directories: content, times of change and rights. */
public final class FilesSeen {

    private FilesSeen() {}

    /** @param counts whether a path is of interest */
    public static Map<String, String> of(Predicate<Path> counts, Path... directories) throws IOException {
        Map<String, String> picture = new TreeMap<>();
        for (Path directory : directories) {
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path path : all.filter(counts).toList()) {
                    picture.put(path.toString(), describe(path));
                }
            }
        }
        return picture;
    }

    private static String describe(Path path) throws IOException {
        String text = Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS) + " "
                + Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS);
        return Files.isRegularFile(path)
                ? text + " " + Files.size(path) + " " + Crc32cs.of(ByteBuffer.wrap(Files.readAllBytes(path)))
                : text;
    }
}

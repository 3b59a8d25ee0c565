package dev.stoker.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * A file system that records which data was forced to disk. {@link #losePower} keeps only this data: names that were
 * not forced disappear, names that were deleted without a force reappear, and files whose content was not forced become
 * empty.
 */
final class PowerLossFiles implements LocalFiles {

    /** Thrown by every call after the power failure. */
    static final class PowerFailure extends Error {
        private static final long serialVersionUID = 1L;
    }

    private final NioFiles real = new NioFiles();
    private int steps;
    private int lastStep = Integer.MAX_VALUE;
    /** Forced content by file key; absent for content that was never forced. */
    private final Map<Object, byte[]> forced = new HashMap<>();
    /** Names made since their directory was forced. */
    private final Set<Path> newNames = new HashSet<>();
    /** Names deleted since their directory was last forced, with their files. */
    private final Map<Path, Object> deletedNames = new LinkedHashMap<>();
    /** Names that got another file since their directory was last forced, with the content of the old one. */
    private final Map<Path, byte[]> replacedNames = new LinkedHashMap<>();

    /** Lets the power fail before the step of this number, counted from 0. */
    synchronized void failAtStep(int step) {
        lastStep = step;
    }

    private void step() {
        if (steps++ >= lastStep) {
            throw new PowerFailure();
        }
    }

    /** How many steps were begun. */
    synchronized int steps() {
        return steps;
    }

    @Override
    public synchronized FileChannel createNew(Path file) throws IOException {
        step();
        FileChannel channel = real.createNew(file);
        newNames.add(file);
        return channel;
    }

    @Override
    public synchronized void force(FileChannel channel, Path file) throws IOException {
        step();
        // Noted, not done: the test's machine keeps its power.
        forced.put(key(file), Files.readAllBytes(file));
    }

    @Override
    public synchronized void link(Path existing, Path name) throws IOException {
        step();
        real.link(existing, name);
        newNames.add(name);
    }

    @Override
    public synchronized void replace(Path file, Path name) throws IOException {
        step();
        // Without a force of the directory, a power loss brings back the old file under this name.
        replacedNames.putIfAbsent(name, forced.getOrDefault(key(name), new byte[0]));
        real.replace(file, name);
        newNames.remove(file);
    }

    @Override
    public synchronized void delete(Path file) throws IOException {
        step();
        Object key = key(file);
        real.delete(file);
        if (!newNames.remove(file)) {
            deletedNames.put(file, key);
        }
    }

    @Override
    public synchronized void createDirectory(Path directory) throws IOException {
        step();
        real.createDirectory(directory);
        newNames.add(directory);
    }

    @Override
    public synchronized void forceDirectory(Path directory) throws IOException {
        step();
        newNames.removeIf(name -> directory.equals(name.getParent()));
        deletedNames.keySet().removeIf(name -> directory.equals(name.getParent()));
        replacedNames.keySet().removeIf(name -> directory.equals(name.getParent()));
    }

    /** Reduces the files below the root to the state after a power loss at this moment. */
    synchronized void losePower(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                if (newNames.contains(directory)) {
                    deleteTree(directory);
                    return FileVisitResult.SKIP_SUBTREE;
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (newNames.contains(file)) {
                    Files.delete(file);
                } else {
                    byte[] content = forced.getOrDefault(attributes.fileKey(), new byte[0]);
                    Files.write(file, content);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        for (Map.Entry<Path, byte[]> replaced : replacedNames.entrySet()) {
            Files.write(replaced.getKey(), replaced.getValue());
        }
        for (Map.Entry<Path, Object> deleted : deletedNames.entrySet()) {
            if (Files.isDirectory(deleted.getKey().getParent())) {
                Files.write(deleted.getKey(), forced.getOrDefault(deleted.getValue(), new byte[0]));
            }
        }
    }

    private static void deleteTree(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException e) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }
}

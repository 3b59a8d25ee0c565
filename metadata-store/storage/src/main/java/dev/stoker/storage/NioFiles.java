package dev.stoker.storage;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Accesses the file systems of this machine. */
final class NioFiles implements LocalFiles {

    private static final boolean DIRECTORIES_CAN_BE_FORCED = File.separatorChar == '/';

    @Override
    public FileChannel createNew(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    }

    @Override
    public void force(FileChannel channel, Path file) throws IOException {
        channel.force(true);
    }

    @Override
    public void link(Path existing, Path name) throws IOException {
        Files.createLink(name, existing);
    }

    @Override
    public void replace(Path file, Path name) throws IOException {
        Files.move(file, name, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void delete(Path file) throws IOException {
        Files.delete(file);
    }

    @Override
    public void createDirectory(Path directory) throws IOException {
        Files.createDirectory(directory);
    }

    @Override
    public void forceDirectory(Path directory) throws IOException {
        if (DIRECTORIES_CAN_BE_FORCED) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }
}

package dev.stoker.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.function.IntConsumer;

/** Tells before each change of the file system. */
final class SteppedFiles implements LocalFiles {

    private final NioFiles real = new NioFiles();
    private final IntConsumer before;
    private int steps;

    SteppedFiles(IntConsumer before) {
        this.before = before;
    }

    private synchronized void step() {
        before.accept(steps++);
    }

    @Override
    public FileChannel createNew(Path file) throws IOException {
        step();
        return real.createNew(file);
    }

    @Override
    public void force(FileChannel channel, Path file) throws IOException {
        step();
        real.force(channel, file);
    }

    @Override
    public void link(Path existing, Path name) throws IOException {
        step();
        real.link(existing, name);
    }

    @Override
    public void replace(Path file, Path name) throws IOException {
        step();
        real.replace(file, name);
    }

    @Override
    public void delete(Path file) throws IOException {
        step();
        real.delete(file);
    }

    @Override
    public void createDirectory(Path directory) throws IOException {
        step();
        real.createDirectory(directory);
    }

    @Override
    public void forceDirectory(Path directory) throws IOException {
        step();
        real.forceDirectory(directory);
    }
}

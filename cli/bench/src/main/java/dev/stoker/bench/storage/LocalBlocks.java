package dev.stoker.bench.storage;

import com.sun.nio.file.ExtendedOpenOption;
import dev.stoker.bench.measure.Progress;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Blocks of files of this machine, through descriptors that stay open.
 *
 * <p>A cold read has {@code O_DIRECT}: it bypasses the page cache, and starts and ends at multiples of the file
 * system's block. A smaller block therefore costs a read of a whole file system block.
 */
final class LocalBlocks implements BlockSource {

    private static final int WARM_BYTES = 1 << 20;

    private final List<FileChannel> channels = new ArrayList<>();
    private final int alignment;

    private LocalBlocks(int alignment) {
        this.alignment = alignment;
    }

    /** Opens files for reads through the page cache. */
    static LocalBlocks cached(List<Path> files) throws IOException {
        return new LocalBlocks(1).open(files, Set.of(StandardOpenOption.READ));
    }

    /**
     * Opens files for reads that bypass the page cache.
     *
     * @throws IOException if the file system does not support that
     * @throws UnsupportedOperationException if the platform does not support that
     */
    static LocalBlocks direct(List<Path> files) throws IOException {
        int alignment = Math.toIntExact(Files.getFileStore(files.get(0)).getBlockSize());
        LocalBlocks blocks =
                new LocalBlocks(alignment).open(files, Set.of(StandardOpenOption.READ, ExtendedOpenOption.DIRECT));
        try {
            // Some file systems refuse the read instead of the opening.
            blocks.reader(1).read(new Blocks.Block(0, 0));
            return blocks;
        } catch (IOException e) {
            blocks.close();
            throw e;
        }
    }

    /**
     * Checks that the file system keeps its files on a disk.
     *
     * @throws UnsupportedOperationException if it keeps them in memory: new kernels accept {@code O_DIRECT} there too
     */
    static void requireDisk(Path file) throws IOException {
        String type = Files.getFileStore(file).type();
        if (type.equals("tmpfs") || type.equals("ramfs")) {
            throw new UnsupportedOperationException(type);
        }
    }

    private LocalBlocks open(List<Path> files, Set<OpenOption> options) throws IOException {
        try {
            for (Path file : files) {
                channels.add(FileChannel.open(file, options));
            }
            return this;
        } catch (IOException | UnsupportedOperationException e) {
            close();
            throw e;
        }
    }

    @Override
    public Reader reader(int blockBytes) {
        int room = alignment == 1 ? blockBytes : blockBytes + 2 * alignment;
        ByteBuffer buffer = ByteBuffer.allocateDirect(room + alignment).alignedSlice(alignment);
        return block -> {
            long start = block.offset() / alignment * alignment;
            int wanted = (int) (block.offset() + blockBytes - start);
            int length = (wanted + alignment - 1) / alignment * alignment;
            buffer.clear().limit(length);
            FileChannel channel = channels.get(block.file());
            while (buffer.position() < wanted) {
                if (channel.read(buffer, start + buffer.position()) < 0) {
                    throw new EOFException("a file ended at byte " + channel.size() + " while it was measured");
                }
            }
        };
    }

    /** Reads each file from its start to its end, so that the page cache has it. */
    void warm(Progress progress) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(WARM_BYTES);
        for (FileChannel channel : channels) {
            long at = 0;
            int read = 0;
            while (read >= 0 && !progress.isStopped()) {
                at += read;
                read = channel.read(buffer.clear(), at);
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (FileChannel channel : channels) {
            channel.close();
        }
    }
}

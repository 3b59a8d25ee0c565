package dev.stoker.mount.fuse;

import com.kenai.jffi.MemoryIO;
import dev.stoker.mount.tree.MountTree;
import dev.stoker.mount.tree.Node;
import dev.stoker.mount.tree.OpenSample;
import dev.stoker.schemas.errors.CorruptDataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.ErrorCodes;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Statvfs;

/** A tree as a FUSE file system: read-only, with one owner. Calls that are not here answer that they do not exist. */
final class TreeFileSystem extends FuseStubFS {

    /** Offset of the bits, one of which is {@code keep_cache}, in {@code struct fuse_file_info}, version 2. */
    private static final int FLAG_BITS = 20;

    private static final int KEEP_CACHE = 2;

    private static final int ACCESS_MODE = 3;
    private static final int READ_ONLY = 0;
    private static final int WRITE = 2;

    private static final int BLOCK = 4096;

    private final MountTree tree;
    private final Problems problems;
    private final Owner owner;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final OpenFiles files = new OpenFiles();
    private final Handles<OpenFiles.OpenFile> openFiles = new Handles<>();
    private final Handles<DirectoryCursor> openDirectories = new Handles<>();

    TreeFileSystem(MountTree tree, Problems problems, Owner owner) {
        this.tree = tree;
        this.problems = problems;
        this.owner = owner;
    }

    /** Is at zero when the kernel has mounted the file system. */
    CountDownLatch ready() {
        return ready;
    }

    @Override
    public Pointer init(Pointer connection) {
        ready.countDown();
        return connection;
    }

    /** A call of the kernel. */
    private interface Call {
        int run() throws IOException;
    }

    private int answer(String path, Call call) {
        try {
            return call.run();
        } catch (CorruptDataException e) {
            problems.damaged(path, e);
        } catch (IOException e) {
            problems.failed(path, e);
        } catch (RuntimeException | Error e) {
            // An exception must not reach the native caller.
            problems.broken(path, e);
        }
        return -ErrorCodes.EIO();
    }

    @Override
    public int getattr(String path, FileStat stat) {
        return answer(path, () -> {
            @Nullable OpenSample open = files.at(path);
            if (open != null) {
                fill(stat, open.size(), open.modifiedMs());
                return 0;
            }
            Optional<Node> node = tree.find(path);
            if (node.isEmpty()) {
                return -ErrorCodes.ENOENT();
            }
            if (node.get() instanceof Node.File file) {
                fill(stat, file.size(), file.modifiedMs());
            } else {
                fill(stat, FileStat.S_IFDIR | 0755, 2, 0, node.get().modifiedMs());
            }
            return 0;
        });
    }

    private void fill(FileStat stat, long size, long modifiedMs) {
        fill(stat, FileStat.S_IFREG | 0644, 1, size, modifiedMs);
    }

    private void fill(FileStat stat, int mode, int links, long size, long modifiedMs) {
        stat.st_mode.set(mode);
        stat.st_nlink.set(links);
        stat.st_uid.set(owner.user());
        stat.st_gid.set(owner.group());
        stat.st_size.set(size);
        stat.st_blksize.set(BLOCK);
        stat.st_blocks.set((size + 511) / 512);
        long seconds = Math.floorDiv(modifiedMs, 1000L);
        long nanos = Math.floorMod(modifiedMs, 1000L) * 1_000_000L;
        stat.st_mtim.tv_sec.set(seconds);
        stat.st_mtim.tv_nsec.set(nanos);
        stat.st_ctim.tv_sec.set(seconds);
        stat.st_ctim.tv_nsec.set(nanos);
        stat.st_atim.tv_sec.set(seconds);
        stat.st_atim.tv_nsec.set(nanos);
    }

    @Override
    public int access(String path, int mask) {
        return (mask & WRITE) != 0 ? -ErrorCodes.EROFS() : 0;
    }

    @Override
    public int open(String path, FuseFileInfo info) {
        return answer(path, () -> {
            if ((info.flags.intValue() & ACCESS_MODE) != READ_ONLY) {
                return -ErrorCodes.EROFS();
            }
            Optional<Node> node = tree.find(path);
            if (node.isEmpty()) {
                return -ErrorCodes.ENOENT();
            }
            if (!(node.get() instanceof Node.File file)) {
                return -ErrorCodes.EISDIR();
            }
            OpenFiles.OpenFile opened = files.open(path, file);
            info.fh.set(openFiles.add(opened));
            if (opened.hasSamePages()) {
                Pointer memory = Struct.getMemory(info);
                memory.putInt(FLAG_BITS, memory.getInt(FLAG_BITS) | KEEP_CACHE);
            }
            return 0;
        });
    }

    @Override
    public int read(String path, Pointer buffer, long size, long offset, FuseFileInfo info) {
        return answer(path, () -> {
            OpenFiles.@Nullable OpenFile file = openFiles.get(info.fh.longValue());
            if (file == null) {
                return -ErrorCodes.EBADF();
            }
            ByteBuffer target = MemoryIO.getInstance()
                    .newDirectByteBuffer(buffer.address(), (int) Math.min(size, Integer.MAX_VALUE));
            return file.sample().read(offset, target);
        });
    }

    @Override
    public int release(String path, FuseFileInfo info) {
        OpenFiles.@Nullable OpenFile file = openFiles.remove(info.fh.longValue());
        if (file != null) {
            files.close(file);
        }
        return 0;
    }

    @Override
    public int opendir(String path, FuseFileInfo info) {
        return answer(path, () -> {
            Optional<Node> node = tree.find(path);
            if (node.isEmpty()) {
                return -ErrorCodes.ENOENT();
            }
            if (!(node.get() instanceof Node.Directory directory)) {
                return -ErrorCodes.ENOTDIR();
            }
            info.fh.set(openDirectories.add(new DirectoryCursor(directory)));
            return 0;
        });
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir filler, long offset, FuseFileInfo info) {
        return answer(path, () -> {
            @Nullable DirectoryCursor cursor = openDirectories.get(info.fh.longValue());
            if (cursor == null) {
                return -ErrorCodes.EBADF();
            }
            cursor.fill(offset, (entry, next) -> filler.apply(buffer, entry.name(), null, next) == 0);
            return 0;
        });
    }

    @Override
    public int releasedir(String path, FuseFileInfo info) {
        @Nullable DirectoryCursor cursor = openDirectories.remove(info.fh.longValue());
        if (cursor != null) {
            cursor.close();
        }
        return 0;
    }

    @Override
    public int statfs(String path, Statvfs stat) {
        long blocks = (tree.bytes() + BLOCK - 1) / BLOCK;
        stat.f_bsize.set(BLOCK);
        stat.f_frsize.set(BLOCK);
        stat.f_blocks.set(blocks);
        stat.f_bfree.set(0);
        stat.f_bavail.set(0);
        stat.f_files.set(
                tree.samples().values().stream().mapToLong(Long::longValue).sum());
        stat.f_ffree.set(0);
        stat.f_favail.set(0);
        stat.f_namemax.set(255);
        return 0;
    }

    /** Closes what is still open after the end of the file system. */
    void closeAll() {
        files.closeAll();
        openDirectories.all().forEach(DirectoryCursor::close);
    }

    /** Does nothing: the library calls it when the process ends, and {@link FuseMount} has unmounted before. */
    @Override
    public void umount() {}

    @Override
    protected String getFSName() {
        return "stoker";
    }
}

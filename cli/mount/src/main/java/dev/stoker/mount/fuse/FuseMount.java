package dev.stoker.mount.fuse;

import dev.stoker.mount.tree.MountTree;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount that this process serves. One thread runs libfuse's loop, which starts threads for the calls of the kernel.
 * Thread-safe.
 */
public final class FuseMount implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FuseMount.class);

    private static final Path DEVICE = Path.of("/dev/fuse");

    private static final int READY_SECONDS = 60;

    /** After an unmount, open files keep the loop running. They get an error when the process ends. */
    private static final int END_SECONDS = 2;

    private final Path directory;
    private final TreeFileSystem files;
    private final Thread loop;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean isStopped;
    private volatile @Nullable Throwable failure;

    private FuseMount(Path directory, TreeFileSystem files, FuseSettings settings) {
        this.directory = directory;
        this.files = files;
        this.loop = new Thread(() -> run(settings), "stoker-fuse");
        loop.setDaemon(true);
    }

    /**
     * Mounts a tree. Returns when programs can use it.
     *
     * @param directory an empty directory
     * @throws StokerException if something that FUSE needs is missing; the message names the next step
     */
    public static FuseMount start(MountTree tree, Path directory, FuseSettings settings, Problems problems)
            throws IOException {
        Path real = MountPoints.real(directory);
        MountPoints.requireFree(real);
        requireDevice(DEVICE);
        FuseMount mount = new FuseMount(real, fileSystem(tree, problems), settings);
        mount.loop.start();
        mount.awaitReady();
        return mount;
    }

    /**
     * Checks that FUSE can be used, and that a directory can become a mount point.
     *
     * @throws StokerException if not; the message names the next step
     */
    public static void require(Path directory) throws IOException {
        MountPoints.requireFree(MountPoints.real(directory));
        requireDevice(DEVICE);
    }

    static void requireDevice(Path device) throws IOException {
        if (!Files.exists(device)) {
            throw new StokerException("there is no " + device + ": load the kernel module with modprobe fuse, or start"
                    + " the container with --device /dev/fuse --cap-add SYS_ADMIN");
        }
        try {
            FileChannel.open(device, StandardOpenOption.READ, StandardOpenOption.WRITE)
                    .close();
        } catch (AccessDeniedException e) {
            throw new StokerException(
                    "this user may not open " + device + ": ask the administrator for chmod 666 " + device
                            + ", or run the command as root",
                    e);
        } catch (IOException e) {
            throw new StokerException(device + " cannot be opened (" + e.getMessage() + "): start the container with"
                    + " --device /dev/fuse --cap-add SYS_ADMIN");
        }
    }

    private static TreeFileSystem fileSystem(MountTree tree, Problems problems) throws IOException {
        try {
            return new TreeFileSystem(tree, problems, Owner.ofProcess());
        } catch (UnsatisfiedLinkError e) {
            throw new StokerException(
                    "libfuse 2 is not installed: apt-get install libfuse2 fuse (Ubuntu 24: libfuse2t64 fuse3), or dnf"
                            + " install fuse fuse-libs",
                    e);
        }
    }

    private void run(FuseSettings settings) {
        try {
            files.mount(directory, true, false, settings.arguments().toArray(String[]::new));
        } catch (RuntimeException | Error e) {
            failure = e;
            LOG.debug("The loop of {} ended", directory, e);
        } finally {
            files.closeAll();
            files.ready().countDown();
            ended.countDown();
        }
    }

    private void awaitReady() throws IOException {
        try {
            boolean isReady = files.ready().await(READY_SECONDS, TimeUnit.SECONDS);
            if (failure == null && isReady) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close();
            throw new InterruptedIOException("interrupted while mounting " + directory);
        }
        close();
        throw new StokerException(
                "the kernel refused to mount " + directory + "; its reason is above. A user other than root needs the"
                        + " program fusermount (apt-get install fuse), a container --cap-add SYS_ADMIN, and"
                        + " --allow-other the line user_allow_other in /etc/fuse.conf",
                failure == null ? new IOException("no answer for " + READY_SECONDS + " s") : failure);
    }

    /** Returns the directory, absolute and without links. */
    public Path directory() {
        return directory;
    }

    /** Waits until the mount ends: by {@link #end}, {@code stoker unmount} or {@code umount}. */
    public void await() throws InterruptedException {
        ended.await();
    }

    /** Ends {@link #await}, even if programs have open files. */
    public void end() {
        ended.countDown();
    }

    /** Unmounts, unless the mount has ended. Open files are readable for a moment, then they get an error. */
    @Override
    public void close() throws IOException {
        synchronized (this) {
            if (isStopped) {
                return;
            }
            isStopped = true;
        }
        if (loop.isAlive()
                && MountPoints.at(directory).filter(MountPoints.Mounted::isOurs).isPresent()) {
            MountPoints.unmount(directory);
        }
        try {
            loop.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

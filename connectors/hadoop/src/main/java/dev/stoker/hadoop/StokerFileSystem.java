package dev.stoker.hadoop;

import dev.stoker.metadata.files.KeyTree;
import dev.stoker.metadata.files.SampleDirectory;
import dev.stoker.metadata.files.SamplePath;
import dev.stoker.metadata.index.SampleStat;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.CompositeCrcFileChecksum;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.util.DataChecksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The read-only file system {@code stoker://NAME[@VERSION]/…}: one version of a dataset. The paths of the files are the
 * keys of the samples (see {@link dev.stoker.schemas.path.KeyPaths}), their contents the values of one field. Reads are
 * verified. The setting {@code fs.stoker.dataset.NAME} says where the dataset is. Without a version, the file system
 * reads the newest version of the time when it was created. Thread-safe.
 */
public class StokerFileSystem extends ReadOnlyFileSystem {

    private static final Logger LOG = LoggerFactory.getLogger(StokerFileSystem.class);

    /** A setting of HDFS that has programs compare checksums of whole files, which do not depend on the block size. */
    private static final String COMBINE_MODE = "dfs.checksum.combine.mode";

    private static final String COMPOSITE_CRC = "COMPOSITE_CRC";
    private static final int BYTES_PER_CRC = 512;

    private @Nullable URI uri;
    private Path workingDirectory = new Path("/");
    private String owner = "";
    private volatile @Nullable SampleTree tree;

    @Override
    public String getScheme() {
        return FileSystemSettings.SCHEME;
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
        super.initialize(name, conf);
        setConf(conf);
        FileSystemSettings settings = FileSystemSettings.of(name, conf);
        URI root = URI.create(FileSystemSettings.SCHEME + "://" + name.getAuthority());
        uri = root;
        workingDirectory = new Path(root.toString(), "/");
        owner = UserGroupInformation.getCurrentUser().getShortUserName();
        read(open(settings));
    }

    /** Opens what this file system reads. */
    SampleTree open(FileSystemSettings settings) throws IOException {
        return SampleTree.open(settings);
    }

    /** Reads a tree from now on. Closing the file system closes it. */
    final void read(SampleTree opened) {
        LOG.info("{} is {}", uri, opened);
        tree = opened;
    }

    final SampleTree tree() throws IOException {
        SampleTree open = tree;
        if (open == null) {
            throw new IOException("The file system " + uri + " is closed");
        }
        return open;
    }

    @Override
    public URI getUri() {
        return Objects.requireNonNull(uri, "set by initialize");
    }

    /** Names of tags differ in case, so the whole authority has to be equal. */
    @Override
    protected void checkPath(Path path) {
        URI other = path.toUri();
        boolean isOwn = other.getScheme() == null
                ? other.getAuthority() == null
                : other.getScheme().equalsIgnoreCase(FileSystemSettings.SCHEME)
                        && Objects.equals(other.getAuthority(), getUri().getAuthority());
        if (!isOwn) {
            throw new IllegalArgumentException("Wrong FS: " + path + ", expected: " + getUri()
                    + "; names that differ only in case need fs.stoker.impl.disable.cache = true");
        }
    }

    /** The authority is no host, and nobody issues tokens for it. */
    @Override
    public @Nullable String getCanonicalServiceName() {
        return null;
    }

    @Override
    public Path getWorkingDirectory() {
        return workingDirectory;
    }

    @Override
    public void setWorkingDirectory(Path directory) {
        workingDirectory = makeQualified(directory);
    }

    @Override
    public Path getHomeDirectory() {
        return makeQualified(new Path("/"));
    }

    /** What a path names, and the path with all its parts. */
    private record Target(Path path, KeyTree.Found found) {

        Optional<SampleStat> sample() {
            return found instanceof KeyTree.Found.File file ? Optional.of(file.sample()) : Optional.empty();
        }
    }

    private Target target(Path path) throws IOException {
        Path qualified = makeQualified(path);
        SampleTree open = tree();
        List<String> names = qualified.isRoot()
                ? List.of()
                : List.of(qualified.toUri().getPath().substring(1).split("/", -1));
        return new Target(
                qualified,
                open.find(names)
                        .orElseThrow(
                                () -> new FileNotFoundException("There is no sample " + qualified + " in " + open)));
    }

    private SampleStatus directory(Path path) throws IOException {
        return SampleStatus.ofDirectory(tree().committedMs(), owner, path);
    }

    private SampleStatus file(Path path, SampleStat sample) throws IOException {
        return SampleStatus.ofFile(tree().contents(sample), tree().committedMs(), owner, path);
    }

    private SampleStatus status(SamplePath entry) throws IOException {
        Path path = new Path(FileSystemSettings.SCHEME, getUri().getAuthority(), "/" + String.join("/", entry.names()));
        return entry.sample().isPresent() ? file(path, entry.sample().get()) : directory(path);
    }

    @Override
    public SampleStatus getFileStatus(Path path) throws IOException {
        statistics.incrementReadOps(1);
        return getStatus(target(path));
    }

    private SampleStatus getStatus(Target target) throws IOException {
        return target.sample().isPresent() ? file(target.path(), target.sample().get()) : directory(target.path());
    }

    /** Says which files of a directory are listed. */
    private enum Depth {
        ENTRIES,
        ALL_FILES
    }

    /** Lists a directory, or a file as the only entry. */
    private RemoteIterator<SampleStatus> list(Path path, Depth depth) throws IOException {
        statistics.incrementLargeReadOps(1);
        Target target = target(path);
        if (target.found() instanceof KeyTree.Found.Directory directory) {
            SampleDirectory keys = directory.directory();
            return new StatusIterator(depth == Depth.ENTRIES ? keys.list() : keys.listAll(), this::status);
        }
        return single(getStatus(target));
    }

    private static RemoteIterator<SampleStatus> single(SampleStatus status) {
        Iterator<SampleStatus> one = List.of(status).iterator();
        return new RemoteIterator<>() {
            @Override
            public boolean hasNext() {
                return one.hasNext();
            }

            @Override
            public SampleStatus next() {
                return one.next();
            }
        };
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        List<FileStatus> entries = new ArrayList<>();
        for (RemoteIterator<SampleStatus> listed = list(path, Depth.ENTRIES); listed.hasNext(); ) {
            entries.add(listed.next());
        }
        return entries.toArray(new FileStatus[0]);
    }

    @Override
    public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
        return new FilteredIterator<>(list(path, Depth.ENTRIES), status -> true, status -> status);
    }

    @Override
    protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter) throws IOException {
        return new FilteredIterator<>(
                list(path, Depth.ENTRIES), status -> filter.accept(status.getPath()), this::located);
    }

    @Override
    public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive) throws IOException {
        return new FilteredIterator<>(
                list(path, recursive ? Depth.ALL_FILES : Depth.ENTRIES), FileStatus::isFile, this::located);
    }

    private LocatedFileStatus located(SampleStatus status) throws IOException {
        BlockLocation[] blocks = status.isFile() ? getFileBlockLocations(status, 0, status.getLen()) : null;
        return status.located(blocks);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        statistics.incrementReadOps(1);
        Target target = target(path);
        if (target.sample().isEmpty()) {
            throw new FileNotFoundException(target.path() + " is a directory");
        }
        SampleStat sample = target.sample().get();
        SampleTree open = tree();
        return new FSDataInputStream(
                new SampleInputStream(open, sample, open.contents(sample).length(), statistics));
    }

    /**
     * Returns the CRC-32C of a file as HDFS computes it in the mode {@code COMPOSITE_CRC}, if this mode is set. In its
     * other mode, checksums depend on the block size, so nothing equals them and copies would fail.
     */
    @Override
    public @Nullable FileChecksum getFileChecksum(Path path, long length) throws IOException {
        Target target = target(path);
        if (target.sample().isEmpty()) {
            throw new FileNotFoundException(target.path() + " is a directory");
        }
        ContentDigest contents = tree().contents(target.sample().get());
        return hasChecksums() && length >= contents.length()
                ? new CompositeCrcFileChecksum(contents.crc32c(), DataChecksum.Type.CRC32C, BYTES_PER_CRC)
                : null;
    }

    @Override
    public @Nullable FileChecksum getFileChecksum(Path path) throws IOException {
        return getFileChecksum(path, Long.MAX_VALUE);
    }

    private boolean hasChecksums() {
        return COMPOSITE_CRC.equalsIgnoreCase(getConf().getTrimmed(COMBINE_MODE, ""));
    }

    @Override
    public boolean hasPathCapability(Path path, String capability) throws IOException {
        checkPath(path);
        return switch (capability.toLowerCase(Locale.ROOT)) {
            case CommonPathCapabilities.ETAGS_AVAILABLE -> true;
            case CommonPathCapabilities.FS_CHECKSUMS -> hasChecksums();
            default -> super.hasPathCapability(path, capability);
        };
    }

    @Override
    public void close() throws IOException {
        SampleTree open = tree;
        tree = null;
        try {
            super.close();
        } finally {
            if (open != null) {
                open.close();
            }
        }
    }
}

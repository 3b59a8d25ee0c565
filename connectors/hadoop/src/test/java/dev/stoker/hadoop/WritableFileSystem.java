package dev.stoker.hadoop;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.path.KeyPaths;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * A file system whose changes commit versions of a dataset, for Hadoop's tests, which make their own files. All files
 * are read by the real file system. Only directories without files are remembered here: a dataset has none.
 */
public final class WritableFileSystem extends StokerFileSystem {

    private final ObjectStore store = new InMemoryObjectStore();
    private final TreeSet<Path> made = new TreeSet<>();
    private Dataset dataset;
    private FileSystemSettings settings;
    private int commits;

    @Override
    SampleTree open(FileSystemSettings given) throws IOException {
        settings = given;
        dataset = Dataset.create(store, SampleDatasets.info());
        commit(VersionRequest.append("ingest-0", List.of(), Map.of(), Map.of()));
        return SampleTree.open(store, settings);
    }

    private void commit(VersionRequest request) throws IOException {
        SampleDatasets.committer(dataset).commit(request);
        commits++;
    }

    private static String key(Path path) {
        return KeyPaths.keyOf(path.toUri().getPath().substring(1)).orElseThrow();
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrite,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        if (exists(path) && (!overwrite || getFileStatus(path).isDirectory())) {
            throw new FileAlreadyExistsException(path.toString());
        }
        return new FSDataOutputStream(
                new ByteArrayOutputStream() {
                    @Override
                    public void close() throws IOException {
                        put(makeQualified(path), toByteArray());
                    }
                },
                statistics);
    }

    @Override
    public FSDataOutputStream createNonRecursive(
            Path path,
            FsPermission permission,
            EnumSet<CreateFlag> flags,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        boolean overwrite = flags.contains(CreateFlag.OVERWRITE);
        return create(path, permission, overwrite, bufferSize, replication, blockSize, progress);
    }

    private void put(Path path, byte[] content) throws IOException {
        remove(path);
        String ingest = "ingest-" + commits;
        ChunkSummary chunk =
                SampleDatasets.write(store, SampleDatasets.id(commits), ingest, "train", Map.of(key(path), content));
        commit(VersionRequest.append(ingest, List.of(chunk), Map.of(), Map.of()));
        read(SampleTree.open(store, settings));
        mkdirs(path.getParent());
    }

    private void remove(Path path) throws IOException {
        List<String> keys = new ArrayList<>();
        if (exists(path)) {
            RemoteIterators.foreach(listFiles(path, true), file -> keys.add(key(file.getPath())));
        }
        if (!keys.isEmpty()) {
            commit(VersionRequest.remove("remove-" + commits, SampleRemoval.ofKeys(dataset, keys), Map.of()));
            read(SampleTree.open(store, settings));
        }
    }

    @Override
    public boolean delete(Path given, boolean recursive) throws IOException {
        Path path = makeQualified(given);
        if (!exists(path)) {
            return false;
        }
        if (getFileStatus(path).isDirectory() && !recursive && listStatus(path).length > 0) {
            throw new PathIsNotEmptyDirectoryException(path.toString());
        }
        remove(path);
        made.removeIf(
                directory -> directory.equals(path) || directory.toString().startsWith(path + "/"));
        return true;
    }

    @Override
    public boolean mkdirs(Path given, FsPermission permission) throws IOException {
        Path path = makeQualified(given);
        for (Path at = path; at != null && !at.isRoot(); at = at.getParent()) {
            if (exists(at) && getFileStatus(at).isFile()) {
                throw new FileAlreadyExistsException(at.toString());
            }
            made.add(at);
        }
        return true;
    }

    @Override
    public SampleStatus getFileStatus(Path path) throws IOException {
        try {
            return super.getFileStatus(path);
        } catch (FileNotFoundException e) {
            if (made.contains(makeQualified(path))) {
                return SampleStatus.ofDirectory(0, "", makeQualified(path));
            }
            throw e;
        }
    }

    /** Returns the directories without files in a directory. */
    private List<FileStatus> empty(Path path) throws IOException {
        List<FileStatus> empty = new ArrayList<>();
        for (Path directory : made) {
            try {
                if (makeQualified(path).equals(directory.getParent())) {
                    super.getFileStatus(directory);
                }
            } catch (FileNotFoundException e) {
                empty.add(getFileStatus(directory));
            }
        }
        return empty;
    }

    private boolean isEmpty(Path path) throws IOException {
        try {
            super.getFileStatus(path);
            return false;
        } catch (FileNotFoundException e) {
            if (made.contains(makeQualified(path))) {
                return true;
            }
            throw e;
        }
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        List<FileStatus> all = new ArrayList<>(isEmpty(path) ? List.of() : Arrays.asList(super.listStatus(path)));
        all.addAll(empty(path));
        return all.toArray(new FileStatus[0]);
    }

    @Override
    public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
        return isEmpty(path) || !empty(path).isEmpty()
                ? RemoteIterators.remoteIteratorFromArray(listStatus(path))
                : super.listStatusIterator(path);
    }

    @Override
    protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter) throws IOException {
        if (!isEmpty(path) && empty(path).isEmpty()) {
            return super.listLocatedStatus(path, filter);
        }
        return RemoteIterators.mappingRemoteIterator(
                RemoteIterators.filteringRemoteIterator(
                        listStatusIterator(path), status -> filter.accept(status.getPath())),
                status -> ((SampleStatus) status).located(null));
    }

    @Override
    public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive) throws IOException {
        return isEmpty(path)
                ? RemoteIterators.remoteIteratorFromArray(new LocatedFileStatus[0])
                : super.listFiles(path, recursive);
    }
}

package dev.stoker.hadoop;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.Progressable;

/** Refuses all changes. Hadoop's own defaults ignore some of them. */
abstract class ReadOnlyFileSystem extends FileSystem {

    private static IOException refused(String operation, Path path) {
        return new AccessControlException("Cannot " + operation + " " + path
                + ": stoker:// is read-only; change the dataset with commands such as `stoker ingest` and"
                + " `stoker delete`");
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
        throw refused("create", path);
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
        throw refused("create", path);
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) throws IOException {
        throw refused("append to", path);
    }

    @Override
    public boolean rename(Path source, Path target) throws IOException {
        throw refused("rename", source);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        throw refused("delete", path);
    }

    @Override
    public boolean deleteOnExit(Path path) throws IOException {
        throw refused("delete", path);
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        throw refused("create the directory", path);
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
        throw refused("change the permissions of", path);
    }

    @Override
    public void setOwner(Path path, String user, String group) throws IOException {
        throw refused("change the owner of", path);
    }

    @Override
    public void setTimes(Path path, long modifiedMs, long accessedMs) throws IOException {
        throw refused("change the times of", path);
    }

    @Override
    public boolean setReplication(Path path, short replication) throws IOException {
        throw refused("change the replication of", path);
    }
}

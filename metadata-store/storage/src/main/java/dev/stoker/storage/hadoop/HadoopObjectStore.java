package dev.stoker.storage.hadoop;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectNames;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.PartSink;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Stores objects as files of a Hadoop file system. Reads work on all of them. Objects can be created only on file
 * systems that are known to assign a name once: HDFS (and viewfs over it) by a rename that replaces nothing, S3 by
 * conditional writes.
 *
 * <p>Retries calls that fail for a transient reason; see {@link Retries}. Thread-safe.
 */
public final class HadoopObjectStore implements ObjectStore {

    static {
        loadShell();
    }

    /**
     * Contains the objects that all parts of a store share.
     *
     * @param paths names as paths
     * @param retries retries for all calls
     */
    record Connection(FileSystem fileSystem, ObjectPaths paths, Retries retries) {

        boolean isObjectStore() {
            return fileSystem.getUri().getScheme().equals("s3a");
        }

        Configuration configuration() {
            return fileSystem.getConf();
        }
    }

    private final Connection connection;
    private final ObjectPaths paths;
    private final Retries retries;
    private final ObjectReader reader;
    private final ObjectCreator creator;

    /** Starts a process. A thread of the JVM waits for it for a minute and keeps the current class loader. */
    private static void loadShell() {
        Thread thread = Thread.currentThread();
        ClassLoader context = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        try {
            Class.forName("org.apache.hadoop.util.Shell", true, HadoopObjectStore.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(e.getMessage());
        } finally {
            thread.setContextClassLoader(context);
        }
    }

    private HadoopObjectStore(Connection connection, ObjectCreator creator) {
        this.connection = connection;
        this.paths = connection.paths();
        this.retries = connection.retries();
        this.reader = ObjectReader.of(connection);
        this.creator = creator;
    }

    /**
     * Opens the store at a URI with the configuration of Hadoop and of the environment; see {@link StoreConfiguration}.
     * Sends no request to the store.
     *
     * @throws UnsupportedStoreException if Hadoop does not know the scheme
     */
    public static HadoopObjectStore open(String location) throws IOException {
        return open(location, Map.of());
    }

    /** As {@link #open(String)}, with settings that take precedence over the configuration. */
    public static HadoopObjectStore open(String location, Map<String, String> settings) throws IOException {
        URI uri = uri(location);
        return open(uri, StoreConfiguration.load(uri, System.getenv(), settings));
    }

    static HadoopObjectStore open(URI uri, Configuration configuration) throws IOException {
        Thread thread = Thread.currentThread();
        ClassLoader context = thread.getContextClassLoader();
        // Hadoop finds its file systems with the thread's class loader.
        thread.setContextClassLoader(HadoopObjectStore.class.getClassLoader());
        try {
            FileSystem fileSystem = fileSystem(uri, configuration);
            try {
                NameNodeContact.require(fileSystem.getUri(), configuration, location(uri));
                return of(uri, fileSystem, configuration);
            } catch (IOException | RuntimeException e) {
                close(fileSystem, e);
                throw e;
            }
        } catch (UnsupportedFileSystemException e) {
            throw new UnsupportedStoreException(
                    location(uri) + ": Hadoop does not know the scheme " + uri.getScheme()
                            + "; Stoker knows hdfs, viewfs, s3a (or s3), gs, and schemes whose jars and configuration"
                            + " you add",
                    e);
        } catch (RuntimeException e) {
            if (e.getCause() instanceof ClassNotFoundException) {
                throw new UnsupportedStoreException(
                        location(uri) + ": the file system of " + uri.getScheme()
                                + ":// is not shipped with Stoker; add its"
                                + " Hadoop connector to lib/hadoop or HADOOP_CLASSPATH, or use hdfs://, s3a:// or"
                                + " gs://",
                        e);
            }
            if (!(e instanceof IllegalArgumentException)) {
                throw e;
            }
            // HDFS reports an unknown host with this exception.
            throw new StoreUnavailableException(
                    "Cannot open " + location(uri) + ": "
                            + (e.getCause() instanceof UnknownHostException
                                    ? "unknown host " + uri.getHost()
                                    : HadoopErrors.INSTANCE.reason(e))
                            + "; check the location and the Hadoop configuration",
                    e);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (IOException e) {
            throw new IOException("Cannot open " + location(uri) + ": " + HadoopErrors.INSTANCE.reason(e), e);
        } finally {
            thread.setContextClassLoader(context);
        }
    }

    private static HadoopObjectStore of(URI uri, FileSystem fileSystem, Configuration configuration)
            throws IOException {
        Retries retries = new Retries(
                HadoopErrors.INSTANCE,
                StoreConfiguration.duration(configuration, StoreConfiguration.RETRY_TIME, Duration.ofSeconds(120)),
                StoreConfiguration.duration(
                        configuration, StoreConfiguration.FIRST_CONTACT_TIME, Duration.ofSeconds(20)));
        // Use the default name node if the location names none.
        URI root = uri.getAuthority() == null ? fileSystem.getUri().resolve(uri.getRawPath()) : uri;
        Connection connection = new Connection(fileSystem, new ObjectPaths(root), retries);
        return new HadoopObjectStore(connection, creator(connection));
    }

    /** Returns a file system that belongs to this store only. */
    private static FileSystem fileSystem(URI uri, Configuration configuration) throws IOException {
        if (!uri.getScheme().equals("s3a")) {
            return FileSystem.newInstance(uri, configuration);
        }
        // Hadoop's cache adds a shutdown hook, which would keep the classes of every job.
        FileSystem fileSystem =
                ReflectionUtils.newInstance(FileSystem.getFileSystemClass("s3a", configuration), configuration);
        try {
            fileSystem.initialize(uri, configuration);
            return fileSystem;
        } catch (IOException | RuntimeException e) {
            close(fileSystem, e);
            throw e;
        }
    }

    private static void close(FileSystem fileSystem, Exception failure) {
        try {
            fileSystem.close();
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    private static URI uri(String location) {
        URI uri = URI.create(location.startsWith("s3://") ? "s3a" + location.substring(2) : location)
                .normalize();
        if (uri.getRawUserInfo() != null && uri.getRawUserInfo().contains(":")) {
            throw new IllegalArgumentException(location(uri)
                    + ": a location must not hold a password; give credentials in the environment or in Hadoop's"
                    + " configuration (see docs/stores.md)");
        }
        return uri;
    }

    /** Returns the location without parts that may be secret. */
    private static String location(URI uri) {
        String host = uri.getHost() == null ? "…" : uri.getHost();
        return uri.getScheme() + "://" + (uri.getRawUserInfo() == null ? String.valueOf(uri.getAuthority()) : host)
                + uri.getPath();
    }

    private static ObjectCreator creator(Connection connection) throws IOException {
        String scheme = connection.fileSystem().getUri().getScheme();
        if (scheme.equals("s3a")) {
            return new ConditionalCreator(connection);
        }
        boolean listed = connection
                .configuration()
                .getTrimmedStringCollection(StoreConfiguration.RENAME_SCHEMES)
                .contains(scheme);
        if (scheme.equals("hdfs") || scheme.equals("viewfs") || listed) {
            return new RenamingCreator(connection);
        }
        return new ReadOnlyCreator(connection.paths());
    }

    Connection connection() {
        return connection;
    }

    @Override
    public String describe(String name) {
        return paths.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        org.apache.hadoop.fs.Path path = paths.path(name);
        FileStatus status = retries.call(
                "find", describe(name), () -> connection.fileSystem().getFileStatus(path));
        if (status.isDirectory()) {
            throw new NoSuchObjectException(describe(name));
        }
        return status.getLen();
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        int start = target.position();
        read(
                name,
                offset,
                target.remaining(),
                (at, part) -> target.position(start + (int) (at - offset)).put(part));
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        if (offset < 0) {
            throw new IllegalArgumentException("Negative offset " + offset);
        }
        ObjectNames.check(name);
        if (length == 0) {
            return;
        }
        long end = offset + length;
        long reached = retries.call("read", describe(name), () -> {
            long[] up = {offset};
            reader.read(name, offset, length, (at, part) -> {
                up[0] = at + part.remaining();
                sink.put(at, part);
            });
            if (up[0] < end && lengthNow(name) >= end) {
                throw new BrokenReadException("the reply ended after " + (up[0] - offset) + " of " + length + " bytes");
            }
            return up[0];
        });
        if (reached < end) {
            throw new CorruptDataException(describe(name) + " ends at byte " + length(name) + ", but bytes up to " + end
                    + " are needed; the object was truncated: restore it from a copy, and run `stoker verify` on the"
                    + " dataset");
        }
    }

    /** Returns the object's length, from the last reply if it stated the length. */
    private long lengthNow(String name) throws IOException {
        CallScope scope = CallScope.current();
        return scope.objectLength() >= 0 ? scope.objectLength() : length(name);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        ObjectNames.check(name);
        return retries.call("read", describe(name), () -> {
            long limit = Math.min(limitBytes, Integer.MAX_VALUE - 8);
            byte[] content = reader.readAll(name, limit);
            long length = lengthNow(name);
            if (length > limit) {
                throw new CorruptDataException(
                        describe(name) + " has " + length + " bytes; expected at most " + limitBytes);
            }
            if (content.length != length) {
                throw new BrokenReadException("the reply ended after " + content.length + " of " + length + " bytes");
            }
            return content;
        });
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        return creator.createIfAbsent(name, content);
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        length(name);
        reader.forget(name);
        creator.replace(name, content);
        // A read that began before may have remembered the old content.
        reader.forget(name);
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        return creator.write(name);
    }

    @Override
    public ObjectIterator list(String prefix, String after) {
        return new HadoopObjectIterator(connection, prefix, after, part -> !ObjectPaths.isTemporary(part));
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return creator.listUnfinished(prefix);
    }

    @Override
    public boolean delete(String name) throws IOException {
        org.apache.hadoop.fs.Path path = paths.path(name);
        if (ObjectPaths.isTemporary(path.getName())) {
            return creator.deleteUnfinished(name);
        }
        reader.forget(name);
        return retries.call(
                "delete", describe(name), () -> connection.fileSystem().delete(path, false));
    }

    @Override
    public Optional<Path> localPath(String name) {
        return Optional.empty();
    }

    @Override
    public void close() throws IOException {
        try {
            reader.close();
        } finally {
            connection.fileSystem().close();
        }
    }

    @Override
    public String toString() {
        return paths.toString();
    }
}

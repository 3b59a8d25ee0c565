package dev.stoker.storage;

import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the classes of Hadoop when the first remote store is opened. They are on the class path (a cluster's {@code
 * lib/} or {@code HADOOP_CLASSPATH}) or in the directory {@code lib/hadoop} of the distribution. In the latter case
 * they get their own class loader, so a process without a remote store loads none of them, and Flink does not see them.
 */
final class RemoteStores {

    private static final String PACKAGE = "dev.stoker.storage.hadoop.";
    private static final String FILE_SYSTEM = "org.apache.hadoop.fs.FileSystem";
    private static final String DISTRIBUTION = "stoker.dist";

    /** Methods that open stores and trees, by the kind of file system and the class. */
    private static final Map<String, MethodHandle> OPENERS = new HashMap<>();

    private static final Map<Boolean, ClassLoader> LOADERS = new HashMap<>();

    private RemoteStores() {}

    static ObjectStore open(String location, Map<String, String> settings) throws IOException {
        try {
            return (ObjectStore)
                    opener(location, "HadoopObjectStore", Map.class).invoke(location, settings);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    static SourceTree openTree(String location) throws IOException {
        try {
            return (SourceTree) opener(location, "HadoopSourceTree").invoke(location);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    /** @param more types of the parameters after the location */
    private static synchronized MethodHandle opener(String location, String type, Class<?>... more) throws IOException {
        boolean isS3 = location.regionMatches(true, 0, "s3", 0, 2);
        MethodHandle known = OPENERS.get(type + isS3);
        if (known != null) {
            return known;
        }
        try {
            ClassLoader loader = LOADERS.get(isS3);
            if (loader == null) {
                loader = loader(isS3);
                LOADERS.put(isS3, loader);
            }
            Class<?> opened = Class.forName(PACKAGE + type, true, loader);
            MethodHandle opener = MethodHandles.publicLookup()
                    .findStatic(
                            opened,
                            "open",
                            MethodType.methodType(opened, String.class).appendParameterTypes(more));
            OPENERS.put(type + isS3, opener);
            return opener;
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new UnsupportedStoreException(
                    "Cannot open remote stores: the classes of Hadoop on the class path are incompatible: " + e, e);
        }
    }

    private static ClassLoader loader(boolean isS3) throws IOException, ClassNotFoundException {
        ClassLoader own = RemoteStores.class.getClassLoader();
        List<URL> jars = new ArrayList<>();
        if (has(own)) {
            ClassLoader hadoop = Class.forName(FILE_SYSTEM, false, own).getClassLoader();
            if (!isS3 || hadoop == own) {
                return own;
            }
            // Hadoop belongs to a cluster, and this class to a job. S3A looks up Stoker's classes by name with its own
            // class loader. The other file systems do not, and share the cluster's logins.
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                jars.add(Path.of(entry).toUri().toURL());
            }
            return classes(jars, own, HadoopClasses.Hadoop.RELOADED);
        }
        String distribution = System.getProperty(DISTRIBUTION);
        if (distribution != null) {
            File[] files = Path.of(distribution, "lib", "hadoop")
                    .toFile()
                    .listFiles((directory, name) -> name.endsWith(".jar"));
            for (File file : files == null ? new File[0] : files) {
                jars.add(file.toURI().toURL());
            }
        }
        if (jars.isEmpty()) {
            throw new UnsupportedStoreException(
                    "Remote stores need the classes of Hadoop, but the class path does not have them: on a Flink"
                            + " cluster, copy cli/target/dist/lib/hadoop/*.jar to Flink's lib directory, or set"
                            + " HADOOP_CLASSPATH, on every machine; see docs/stores.md");
        }
        return classes(jars, own, HadoopClasses.Hadoop.SHARED);
    }

    private static ClassLoader classes(List<URL> jars, ClassLoader own, HadoopClasses.Hadoop hadoop) {
        jars.add(RemoteStores.class.getProtectionDomain().getCodeSource().getLocation());
        return new HadoopClasses(jars.toArray(new URL[0]), own, hadoop);
    }

    /** See {@link Stores#release}. */
    static void release() {
        List<ClassLoader> loaders;
        synchronized (RemoteStores.class) {
            loaders = List.copyOf(LOADERS.values());
        }
        loaders.forEach(HadoopThreads::end);
    }

    private static boolean has(ClassLoader loader) {
        return loader.getResource(FILE_SYSTEM.replace('.', '/') + ".class") != null;
    }
}

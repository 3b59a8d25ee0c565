package dev.stoker.storage;

import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Finds the client libraries of remote stores when the first one is opened. They are on the class path (a cluster's
 * {@code lib/} or {@code HADOOP_CLASSPATH}), or in the directories {@code lib/hadoop} and {@code lib/cloud} of the
 * distribution. In the latter case they get their own class loader, so a process without a remote store loads none of
 * them, and Flink does not see them.
 */
final class RemoteStores {

    private static final String FILE_SYSTEM = "org.apache.hadoop.fs.FileSystem";
    private static final String DISTRIBUTION = "stoker.dist";

    /** Lists the libraries by the way in which they are loaded. */
    private enum Library {
        /** Hadoop for all schemes but those of S3. */
        HADOOP("hadoop.Hadoop"),
        /** Hadoop with S3A, which looks up Stoker's classes by name. */
        S3("hadoop.Hadoop"),
        /** The clients of Google and Microsoft. */
        CLOUD("cloud.Cloud");

        private final String classes;

        Library(String classes) {
            this.classes = "dev.stoker.storage." + classes;
        }

        static Library of(String location) {
            String scheme = location.substring(0, location.indexOf(':')).toLowerCase(Locale.ROOT);
            return switch (scheme) {
                case "gs", "az", "abfs", "abfss" -> CLOUD;
                case "s3", "s3a" -> S3;
                default -> HADOOP;
            };
        }
    }

    /** Methods that open stores and trees, by the library and the end of the class's name. */
    private static final Map<String, MethodHandle> OPENERS = new HashMap<>();

    private static final Map<Library, ClassLoader> LOADERS = new EnumMap<>(Library.class);

    private RemoteStores() {}

    static ObjectStore open(String location, Map<String, String> settings) throws IOException {
        try {
            return (ObjectStore) opener(location, "ObjectStore", Map.class).invoke(location, settings);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    static SourceTree openTree(String location) throws IOException {
        try {
            return (SourceTree) opener(location, "SourceTree").invoke(location);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException(e);
        }
    }

    /** @param more types of the parameters after the location */
    private static synchronized MethodHandle opener(String location, String type, Class<?>... more) throws IOException {
        Library library = Library.of(location);
        MethodHandle known = OPENERS.get(type + library);
        if (known != null) {
            return known;
        }
        try {
            ClassLoader loader = LOADERS.get(library);
            if (loader == null) {
                loader = library == Library.CLOUD ? CloudClasses.loader(distribution("cloud")) : loader(library);
                LOADERS.put(library, loader);
            }
            Class<?> opened = Class.forName(library.classes + type, true, loader);
            MethodHandle opener = MethodHandles.publicLookup()
                    .findStatic(
                            opened,
                            "open",
                            MethodType.methodType(opened, String.class).appendParameterTypes(more));
            OPENERS.put(type + library, opener);
            return opener;
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new UnsupportedStoreException(
                    "Cannot open remote stores: the client libraries on the class path are incompatible: " + e, e);
        }
    }

    /** Returns the jars in a directory of the distribution; none if this process does not run from one. */
    private static List<URL> distribution(String directory) throws IOException {
        List<URL> jars = new ArrayList<>();
        String distribution = System.getProperty(DISTRIBUTION);
        if (distribution != null) {
            File[] files =
                    Path.of(distribution, "lib", directory).toFile().listFiles((parent, name) -> name.endsWith(".jar"));
            for (File file : files == null ? new File[0] : files) {
                jars.add(file.toURI().toURL());
            }
        }
        return jars;
    }

    private static ClassLoader loader(Library library) throws IOException, ClassNotFoundException {
        ClassLoader own = RemoteStores.class.getClassLoader();
        if (has(own)) {
            ClassLoader hadoop = Class.forName(FILE_SYSTEM, false, own).getClassLoader();
            if (library != Library.S3 || hadoop == own) {
                return own;
            }
            // Hadoop belongs to a cluster, and this class to a job. S3A looks up Stoker's classes by name with its own
            // class loader. The other file systems do not, and share the cluster's logins.
            List<URL> jars = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                jars.add(Path.of(entry).toUri().toURL());
            }
            return classes(jars, own, HadoopClasses.Hadoop.RELOADED);
        }
        List<URL> jars = distribution("hadoop");
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

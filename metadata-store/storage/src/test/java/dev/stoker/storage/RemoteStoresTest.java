package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.hadoop.HadoopSettings;
import dev.stoker.storage.hadoop.S3Server;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores in a process like the command's, without Hadoop on its class path. */
class RemoteStoresTest {

    @TempDir
    private Path distribution;

    @AfterEach
    void clear() {
        System.clearProperty("stoker.dist");
    }

    private static boolean isOfHadoop(String entry) {
        String name = entry.substring(entry.lastIndexOf('/') + 1);
        return !name.startsWith("slf4j")
                && !name.startsWith("log4j")
                && !name.startsWith("stoker")
                && !entry.contains("/schemas/")
                && name.endsWith(".jar");
    }

    private static URLClassLoader withoutHadoop() throws IOException {
        List<URL> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!isOfHadoop(entry)) {
                entries.add(new File(entry).toURI().toURL());
            }
        }
        return new URLClassLoader(entries.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    private static Object open(ClassLoader loader, String location) throws Exception {
        try {
            return loader.loadClass(Stores.class.getName())
                    .getMethod("open", String.class)
                    .invoke(null, location);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    @Test
    void withoutHadoopTheErrorSaysWhereToPutIt() throws Throwable {
        try (URLClassLoader loader = withoutHadoop()) {
            assertThat(open(loader, distribution.toString())).isNotNull();
            assertThatThrownBy(() -> open(loader, "hdfs://namenode/photos"))
                    .hasMessageContaining("classes of Hadoop")
                    .hasMessageContaining("HADOOP_CLASSPATH");
        }
    }

    @Test
    void hadoopComesFromTheDistributionAndStaysApart() throws Throwable {
        Path jars = Files.createDirectories(distribution.resolve("lib/hadoop"));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (isOfHadoop(entry) && !entry.contains("minicluster")) {
                Files.createSymbolicLink(jars.resolve(new File(entry).getName()), Path.of(entry));
            }
        }
        System.setProperty("stoker.dist", distribution.toString());
        try (URLClassLoader loader = withoutHadoop()) {
            AutoCloseable store = (AutoCloseable) open(loader, "s3a://bucket/photos");

            assertThat(store.toString()).isEqualTo("s3a://bucket/photos");
            assertThat(loader.loadClass(ObjectStore.class.getName()).isInstance(store))
                    .isTrue();
            assertThat(store.getClass().getClassLoader()).isNotSameAs(loader);
            assertThatThrownBy(() -> loader.loadClass("org.apache.hadoop.fs.FileSystem"))
                    .isInstanceOf(ClassNotFoundException.class);
            store.close();
        }
    }

    /** As on a cluster whose class path has Hadoop: each job has its own classes, which are unloaded with it. */
    @Test
    @Tag("full-stores")
    void twoJobsUseTheHadoopOfTheirCluster() throws Throwable {
        HadoopSettings.use(S3Server.shared().settings());
        List<URL> ofCluster = new ArrayList<>();
        List<URL> ofJob = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            boolean isStoker = entry.contains("stoker-") || new File(entry).isDirectory();
            (isStoker ? ofJob : ofCluster).add(new File(entry).toURI().toURL());
        }
        String location = "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
        try (URLClassLoader cluster =
                new URLClassLoader(ofCluster.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
            // Long since on a cluster; log4j's hook for the end of the process keeps the classes that are on the stack
            // then.
            cluster.loadClass("org.slf4j.LoggerFactory")
                    .getMethod("getLogger", String.class)
                    .invoke(null, "cluster");
            for (int job = 0; job < 2; job++) {
                WeakReference<ClassLoader> classes = job(job, ofJob, cluster, location);
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
                while (classes.get() != null) {
                    assertThat(System.nanoTime())
                            .as("the classes of job %d stay", job)
                            .isLessThan(deadline);
                    System.gc();
                    LockSupport.parkNanos(20_000_000);
                }
            }
        } finally {
            HadoopSettings.clear();
        }
    }

    /**
     * Runs on a separate thread, as tasks do. Returns the loader of the job's classes, which the test does not hold.
     */
    private static WeakReference<ClassLoader> job(int job, List<URL> jars, ClassLoader cluster, String location)
            throws Throwable {
        FutureTask<WeakReference<ClassLoader>> task = new FutureTask<>(() -> {
            try (URLClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]), cluster)) {
                use(job, loader, location);
                return new WeakReference<>(loader);
            }
        });
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
        return task.get();
    }

    private static void use(int job, ClassLoader loader, String location) throws Exception {
        Object store = open(loader, location);
        Class<?> type = loader.loadClass(ObjectStore.class.getName());
        assertThat(type.getMethod("createIfAbsent", String.class, byte[].class)
                        .invoke(store, "job" + job, new byte[] {1, 2}))
                .isEqualTo(true);
        assertThat(type.getMethod("readAll", String.class, long.class).invoke(store, "job0", 9L))
                .isEqualTo(new byte[] {1, 2});
        type.getMethod("close").invoke(store);
        loader.loadClass(Stores.class.getName()).getMethod("release").invoke(null);
    }
}

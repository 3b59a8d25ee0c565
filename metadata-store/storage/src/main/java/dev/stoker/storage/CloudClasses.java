package dev.stoker.storage;

import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads the classes of this module that use the client libraries of clouds, and these libraries. They come before those
 * of the parent, which may have other versions of the same libraries.
 */
final class CloudClasses extends URLClassLoader {

    private static final String OWN = "dev.stoker.storage.cloud.";
    private static final List<String> CLIENTS = List.of(
            "com.google.api.services.storage.Storage",
            "com.azure.storage.blob.BlobContainerClient",
            "com.azure.identity.DefaultAzureCredential");

    static {
        registerAsParallelCapable();
    }

    private CloudClasses(URL[] jars, ClassLoader parent) {
        super("cloud", jars, parent);
    }

    /**
     * Returns the class loader of the clouds.
     *
     * @param jars of the distribution; empty if this process does not run from one
     */
    static ClassLoader loader(List<URL> jars) throws IOException {
        ClassLoader own = CloudClasses.class.getClassLoader();
        if (!jars.isEmpty()) {
            List<URL> all = new ArrayList<>(jars);
            all.add(CloudClasses.class.getProtectionDomain().getCodeSource().getLocation());
            return new CloudClasses(all.toArray(new URL[0]), own);
        }
        if (CLIENTS.stream().anyMatch(client -> own.getResource(client.replace('.', '/') + ".class") == null)) {
            throw new UnsupportedStoreException(
                    "Clouds (gs://, az://, abfss://) need their client libraries, which are not on the class path: on a"
                            + " Flink cluster, copy cli/target/dist/lib/cloud/*.jar to Flink's lib directory on"
                            + " every machine; see docs/stores.md");
        }
        return own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean isShared = name.startsWith("java.")
                || name.startsWith("org.slf4j.")
                || (name.startsWith("dev.stoker.") && !name.startsWith(OWN));
        if (isShared) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found == null) {
                try {
                    found = findClass(name);
                } catch (ClassNotFoundException e) {
                    return super.loadClass(name, resolve);
                }
            }
            if (resolve) {
                resolveClass(found);
            }
            return found;
        }
    }

    /** Finds descriptions of services beside the classes that they name. */
    @Override
    public URL getResource(String name) {
        URL found = findResource(name);
        return found != null ? found : super.getResource(name);
    }
}

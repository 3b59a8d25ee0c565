package dev.stoker.storage;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * Loads the classes of this module that use Hadoop, and Hadoop's classes if the parent has none. All other classes come
 * from the parent.
 */
final class HadoopClasses extends URLClassLoader {

    private static final String OWN = "dev.stoker.storage.hadoop.";
    private static final String HADOOP = "org.apache.hadoop.";
    /** S3A registers with classes of the AWS SDK, which accept only one registration. */
    private static final String AWS = "software.amazon.";

    static {
        registerAsParallelCapable();
    }

    /** How to treat the parent's Hadoop classes. */
    enum Hadoop {
        /** Use the parent's classes. */
        AS_FOUND,
        /** Load Hadoop again, so that it finds the classes of this module. */
        ANEW
    }

    private final Hadoop hadoop;

    HadoopClasses(URL[] jars, ClassLoader parent, Hadoop hadoop) {
        super("hadoop", jars, parent);
        this.hadoop = hadoop;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!isOwn(name)) {
            return super.loadClass(name, resolve);
        }
        // The parent could find these classes too, but not the ones that they refer to.
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found == null) {
                found = findClass(name);
            }
            if (resolve) {
                resolveClass(found);
            }
            return found;
        }
    }

    private boolean isOwn(String name) {
        return name.startsWith(OWN) || hadoop == Hadoop.ANEW && (name.startsWith(HADOOP) || name.startsWith(AWS));
    }
}

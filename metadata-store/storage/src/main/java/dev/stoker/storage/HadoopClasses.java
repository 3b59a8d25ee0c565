package dev.stoker.storage;

import java.net.URL;
import java.net.URLClassLoader;

/**
 * Loads the classes of this module that use Hadoop, and Hadoop if the parent lacks it. All other classes come from the
 * parent.
 */
final class HadoopClasses extends URLClassLoader {

    private static final String OWN = "dev.stoker.storage.hadoop.";
    private static final String HADOOP = "org.apache.hadoop.";
    /** S3A registers itself with classes of the AWS SDK, which do not accept a second registration. */
    private static final String AWS = "software.amazon.";

    static {
        registerAsParallelCapable();
    }

    /** Says what to do with the Hadoop classes of the parent. */
    enum Hadoop {
        /** Use the parent's classes, if it has them. */
        SHARED,
        /** Load the classes again, so that they find the classes of this module. */
        RELOADED
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
        // The parent could find these too, but not the classes to which they refer.
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
        return name.startsWith(OWN) || (hadoop == Hadoop.RELOADED && (name.startsWith(HADOOP) || name.startsWith(AWS)));
    }
}

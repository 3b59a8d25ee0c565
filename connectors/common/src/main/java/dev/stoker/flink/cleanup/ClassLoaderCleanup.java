package dev.stoker.flink.cleanup;

import dev.stoker.storage.Stores;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * Lets the classes of a job go that has opened remote stores. Every part of a job that opens one says so here, since
 * the parts may run in different processes. Does nothing where the classes are the process's own, as in the command.
 *
 * <p>S3A finds Stoker's classes by name, so a job loads Hadoop again. Hadoop's thread for the statistics of ended
 * threads and its shutdown hook live as long as the JVM and would keep all classes of the job, some 50 MB. No
 * statistics are lost, since stores are closed by then.
 *
 * <p>Threads that Flink created while a part of the job was on the stack would keep the classes, too.
 */
public final class ClassLoaderCleanup {
    private static final String HOOK = "stoker-remote-stores";

    private ClassLoaderCleanup() {}

    /** Releases the classes when the last task of the job in this process has ended. */
    public static void atUnload(UserCodeClassLoader code) {
        if (isOfJob()) {
            code.registerReleaseHookIfAbsent(HOOK, ClassLoaderCleanup::release);
        }
    }

    /** As {@link #atUnload(UserCodeClassLoader)}. */
    public static void atUnload(RuntimeContext context) {
        if (isOfJob()) {
            context.registerUserCodeClassLoaderReleaseHookIfAbsent(HOOK, ClassLoaderCleanup::release);
        }
    }

    /** Releases the classes now; for enumerators, which are not notified when code is unloaded. */
    public static void now() {
        if (isOfJob()) {
            release();
        }
    }

    private static void release() {
        Stores.release();
        InheritedAccess.remove(ClassLoaderCleanup.class.getClassLoader());
    }

    private static boolean isOfJob() {
        return Stores.class.getClassLoader() != UserCodeClassLoader.class.getClassLoader();
    }
}

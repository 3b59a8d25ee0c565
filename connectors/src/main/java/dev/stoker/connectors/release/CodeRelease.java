package dev.stoker.connectors.release;

import dev.stoker.storage.Stores;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.util.UserCodeClassLoader;

/**
 * Releases the classes of a job that has opened remote stores. Every part of a job that opens one calls this, since the
 * parts may run in different processes. Does nothing if the classes are the process's own, as in the command.
 */
public final class CodeRelease {
    private static final String HOOK = "stoker-remote-stores";

    private CodeRelease() {}

    /** Releases the classes when the last task of the job in this process has ended. */
    public static void atUnload(UserCodeClassLoader code) {
        if (isOfJob()) {
            code.registerReleaseHookIfAbsent(HOOK, Stores::release);
        }
    }

    /** As {@link #atUnload(UserCodeClassLoader)}. */
    public static void atUnload(RuntimeContext context) {
        if (isOfJob()) {
            context.registerUserCodeClassLoaderReleaseHookIfAbsent(HOOK, Stores::release);
        }
    }

    /** Releases the classes now; for enumerators, which are not notified when code is unloaded. */
    public static void now() {
        if (isOfJob()) {
            Stores.release();
        }
    }

    private static boolean isOfJob() {
        return Stores.class.getClassLoader() != UserCodeClassLoader.class.getClassLoader();
    }
}

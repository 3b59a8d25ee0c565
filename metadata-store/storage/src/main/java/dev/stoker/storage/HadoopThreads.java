package dev.stoker.storage;

import java.lang.reflect.Field;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds and stops the threads that Hadoop and the AWS SDK keep in static fields for the life of the process. Each of
 * them keeps the class loader of its class alive.
 */
final class HadoopThreads {
    private static final Logger LOG = LoggerFactory.getLogger(HadoopThreads.class);
    private static final String CLEANER = "org.apache.hadoop.fs.FileSystem$Statistics";
    private static final String QUANTILES = "org.apache.hadoop.metrics2.lib.MutableQuantiles";
    private static final String TIMEOUTS = "software.amazon.awssdk.core.ResponseInputStream$TimeoutScheduler";

    private HadoopThreads() {}

    /** Ends the threads that belong to classes of this loader, but not to classes of its parent. */
    static void end(ClassLoader loader) {
        // This thread runs until it is interrupted.
        if (field(loader, CLEANER, "STATS_DATA_CLEANER") instanceof Thread cleaner) {
            cleaner.interrupt();
        }
        idle(field(loader, QUANTILES, "scheduler"));
        idle(field(loader, TIMEOUTS, "INSTANCE"));
    }

    /** Makes idle threads end. New work creates new threads. */
    private static void idle(@Nullable Object scheduler) {
        if (scheduler instanceof ScheduledThreadPoolExecutor threads) {
            threads.setKeepAliveTime(1, TimeUnit.SECONDS);
            threads.allowCoreThreadTimeOut(true);
            threads.purge();
        }
    }

    /**
     * Returns the value of a static field; null if another loader has loaded the class, or if this version has no such
     * field.
     */
    private static @Nullable Object field(ClassLoader loader, String type, String name) {
        try {
            Class<?> found = Class.forName(type, false, loader);
            if (found.getClassLoader() != loader) {
                return null;
            }
            Field field = found.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(null);
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            LOG.debug("{} has no {} here", type, name, e);
            return null;
        }
    }
}

package dev.stoker.flink.cleanup;

import java.lang.reflect.Field;
import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the code of a job from the access rights that threads of Flink have inherited.
 *
 * <p>Up to JDK 23, a new thread keeps a reference to the code on the stack of the thread that created it. Flink's RPC
 * system creates threads when it sends a message, and a source sends messages while its methods are on the stack. Such
 * a thread lives much longer than the job, and would keep all classes of the job. Without a security manager, which
 * Flink uses only to intercept exits, nothing reads these rights.
 */
@SuppressWarnings("removal")
final class InheritedAccess {
    private static final Logger LOG = LoggerFactory.getLogger(InheritedAccess.class);
    private static final String FIELD = "inheritedAccessControlContext";

    private InheritedAccess() {}

    /**
     * Removes the code of this loader and of its children from all threads. Does nothing if the JVM does not open the
     * package {@code java.lang}, which Flink's default options open.
     */
    static void remove(ClassLoader code) {
        try {
            Field inherited = Thread.class.getDeclaredField(FIELD);
            inherited.setAccessible(true);
            for (Thread thread : threads()) {
                if (thread != null && inherited.get(thread) instanceof AccessControlContext context) {
                    ProtectionDomain[] all = domains(context);
                    ProtectionDomain[] others = Arrays.stream(all)
                            .filter(domain -> !isOf(code, domain.getClassLoader()))
                            .toArray(ProtectionDomain[]::new);
                    if (others.length < all.length) {
                        inherited.set(thread, new AccessControlContext(others));
                    }
                }
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            LOG.debug("Threads of this JVM may keep the classes of the job", e);
        }
    }

    /** Returns the code to which a context belongs. */
    static ProtectionDomain[] domains(AccessControlContext context) {
        AtomicReference<ProtectionDomain[]> found = new AtomicReference<>();
        AccessControlContext asking = new AccessControlContext(context, (current, assigned) -> {
            found.set(assigned);
            return assigned;
        });
        AccessController.doPrivileged((PrivilegedAction<AccessControlContext>) AccessController::getContext, asking);
        ProtectionDomain[] domains = found.get();
        return domains == null ? new ProtectionDomain[0] : domains;
    }

    private static boolean isOf(ClassLoader code, ClassLoader loader) {
        for (ClassLoader next = loader; next != null; next = next.getParent()) {
            if (next == code) {
                return true;
            }
        }
        return false;
    }

    /** Returns all threads; the rest of the array is null. */
    private static Thread[] threads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() * 2 + 64];
        root.enumerate(threads);
        return threads;
    }
}

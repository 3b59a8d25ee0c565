package dev.stoker.flink.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.AccessControlContext;
import java.security.AccessController;
import java.security.CodeSource;
import java.security.PrivilegedAction;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

@SuppressWarnings("removal")
class InheritedAccessTest {

    private static ProtectionDomain code(ClassLoader loader) {
        return new ProtectionDomain(new CodeSource(null, (Certificate[]) null), null, loader, null);
    }

    private static List<ClassLoader> kept(Thread thread) throws ReflectiveOperationException {
        try {
            Field inherited = Thread.class.getDeclaredField("inheritedAccessControlContext");
            inherited.setAccessible(true);
            return Arrays.stream(InheritedAccess.domains((AccessControlContext) inherited.get(thread)))
                    .map(ProtectionDomain::getClassLoader)
                    .toList();
        } catch (NoSuchFieldException e) {
            return List.of();
        }
    }

    /** As Flink's RPC system does when a source sends an event. */
    @Test
    void aThreadThatAJobMadeFlinkCreateDoesNotKeepTheClassesOfTheJob() throws Exception {
        try (URLClassLoader job = new URLClassLoader(new URL[0]);
                URLClassLoader belowTheJob = new URLClassLoader(new URL[0], job);
                URLClassLoader other = new URLClassLoader(new URL[0])) {
            CountDownLatch over = new CountDownLatch(1);
            Thread thread = AccessController.doPrivileged(
                    (PrivilegedAction<Thread>) () -> new Thread(() -> {
                        try {
                            over.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    }),
                    new AccessControlContext(new ProtectionDomain[] {code(job), code(belowTheJob), code(other)}));
            thread.start();
            try {
                // Later JDKs inherit nothing.
                boolean isInherited = Runtime.version().feature() < 24;
                assertThat(kept(thread)).containsAll(isInherited ? List.of(job, belowTheJob, other) : List.of());
                InheritedAccess.remove(job);
                assertThat(kept(thread))
                        .containsAll(isInherited ? List.of(other) : List.of())
                        .doesNotContain(job, belowTheJob);
            } finally {
                over.countDown();
                thread.join();
            }
        }
    }
}

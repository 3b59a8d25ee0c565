package dev.stoker.connectors.shared;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails after a test class that leaves something to the next classes of its JVM, and names it.
 *
 * <p>JUnit finds it by {@code META-INF/services}, and adds it to each class, if {@code
 * junit.jupiter.extensions.autodetection.enabled} is set. The classes' own extensions and {@code @AfterAll} methods
 * have run before it.
 */
public final class LeftoverCheck implements BeforeAllCallback, AfterAllCallback {

    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeftoverCheck.class);

    /** Threads end some moments after the cluster or client that they belong to. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static boolean isOutermost(ExtensionContext context) {
        return context.getParent().equals(Optional.of(context.getRoot()));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (isOutermost(context)) {
            context.getStore(NAMESPACE).put(Leftovers.class, Leftovers.before());
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        if (isOutermost(context)) {
            Leftovers leftovers = context.getStore(NAMESPACE).get(Leftovers.class, Leftovers.class);
            boolean areThreadsIgnored = context.getRequiredTestClass().isAnnotationPresent(LeavesThreads.class);
            List<String> found = areThreadsIgnored ? leftovers.removeAllButThreads() : leftovers.remove(PATIENCE);
            if (!found.isEmpty()) {
                throw new AssertionError(
                        context.getRequiredTestClass().getName() + " leaves " + String.join("; ", found));
            }
        }
    }
}

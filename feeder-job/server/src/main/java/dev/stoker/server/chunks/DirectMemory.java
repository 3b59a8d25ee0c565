package dev.stoker.server.chunks;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;

/**
 * Gives mapped and direct memory back now instead of when the garbage collector finds it, so that neither direct memory
 * nor the kernel's limit of mappings is used up. The JDK's only way on Java 17 is
 * {@code sun.misc.Unsafe.invokeCleaner}.
 */
public final class DirectMemory {
    private static final MethodHandle CLEANER = cleaner();

    private DirectMemory() {}

    /** Frees a buffer that is no slice or duplicate itself; neither it nor any slice of it may be used afterwards. */
    public static void free(ByteBuffer buffer) {
        try {
            CLEANER.invokeExact(buffer);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a mapped file cannot be unmapped", e);
        }
    }

    private static MethodHandle cleaner() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            return MethodHandles.lookup()
                    .findVirtual(unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
                    .bindTo(instance.get(null));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}

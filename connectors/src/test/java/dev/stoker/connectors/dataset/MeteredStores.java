package dev.stoker.connectors.dataset;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the bytes that jobs of this process read of the chunks of a dataset. Any thread. */
public final class MeteredStores {

    private static final Map<String, AtomicLong> BYTES = new ConcurrentHashMap<>();

    private MeteredStores() {}

    /** Opens a counted store. */
    public static ObjectStore open(String location) throws IOException {
        ObjectStore store = DatasetStore.BY_LOCATION.open(location);
        AtomicLong bytes = BYTES.computeIfAbsent(location, l -> new AtomicLong());
        return (ObjectStore) Proxy.newProxyInstance(
                MeteredStores.class.getClassLoader(),
                new Class<?>[] {ObjectStore.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("read") && ((String) arguments[0]).startsWith("chunks/")) {
                        if (arguments[arguments.length - 1] instanceof PartSink) {
                            throw new UnsupportedOperationException("not counted");
                        }
                        bytes.addAndGet(((ByteBuffer) arguments[2]).remaining());
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Returns the bytes read since the last call. */
    public static long take(String location) {
        AtomicLong bytes = BYTES.get(location);
        return bytes == null ? 0 : bytes.getAndSet(0);
    }
}

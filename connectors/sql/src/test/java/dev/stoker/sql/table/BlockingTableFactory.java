package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** The connector {@code blocking}: like {@code stoker}, but the third chunk that this process writes blocks a task. */
public final class BlockingTableFactory extends StokerTableFactory {

    static final String BLOCKED = "blocked";
    static final CountDownLatch IS_BLOCKED = new CountDownLatch(1);

    private static final AtomicInteger CHUNKS = new AtomicInteger();

    public BlockingTableFactory() {
        super("blocking", BlockingTableFactory::open);
    }

    private static ObjectStore open(String location) throws IOException {
        ObjectStore store = DatasetStore.BY_LOCATION.open(location);
        return (ObjectStore) Proxy.newProxyInstance(
                BlockingTableFactory.class.getClassLoader(),
                new Class<?>[] {ObjectStore.class},
                (proxy, method, arguments) -> {
                    boolean isChunk = method.getName().equals("write") && ((String) arguments[0]).startsWith("chunks/");
                    if (isChunk && CHUNKS.incrementAndGet() == 3) {
                        System.out.println(BLOCKED);
                        IS_BLOCKED.countDown();
                        new CountDownLatch(1).await();
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}

package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableSinkFactory;

/** The connector {@code blocking}: as {@code stoker}, but the third chunk that this process writes blocks a task. */
public final class BlockingTableFactory implements DynamicTableSinkFactory {

    static final String BLOCKED = "blocked";
    static final CountDownLatch IS_BLOCKED = new CountDownLatch(1);

    private static final AtomicInteger CHUNKS = new AtomicInteger();

    private final StokerTableFactory factory = new StokerTableFactory("blocking", BlockingTableFactory::open);

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

    @Override
    public String factoryIdentifier() {
        return factory.factoryIdentifier();
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return factory.requiredOptions();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return factory.optionalOptions();
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        return factory.createDynamicTableSink(context);
    }
}

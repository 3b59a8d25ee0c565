package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.MeteredStores;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSourceFactory;

/** The connector {@code metered}: as {@code stoker}, but counts the bytes that are read of chunks. */
public final class MeteredTableFactory implements DynamicTableSourceFactory {

    private final StokerTableFactory factory = new StokerTableFactory("metered", MeteredStores::open);

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
    public DynamicTableSource createDynamicTableSource(Context context) {
        return factory.createDynamicTableSource(context);
    }
}

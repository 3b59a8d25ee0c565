package dev.stoker.sql.catalog;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.factories.CatalogFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** Makes catalogs {@code WITH ('type'='stoker', 'path'='…')}. Stateless. */
public final class StokerCatalogFactory implements CatalogFactory {

    public static final ConfigOption<String> PATH = ConfigOptions.key("path")
            .stringType()
            .noDefaultValue()
            .withDescription("Directory of datasets: a path that all machines have mounted, or a URI.");

    public static final ConfigOption<String> DEFAULT_DATABASE = ConfigOptions.key("default-database")
            .stringType()
            .defaultValue("default")
            .withDescription("Name of the only database.");

    @Override
    public String factoryIdentifier() {
        return "stoker";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(PATH);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(DEFAULT_DATABASE);
    }

    @Override
    public Catalog createCatalog(Context context) {
        FactoryUtil.CatalogFactoryHelper helper = FactoryUtil.createCatalogFactoryHelper(this, context);
        helper.validate();
        return new StokerCatalog(
                context.getName(),
                helper.getOptions().get(DEFAULT_DATABASE),
                new DatasetDirectory(helper.getOptions().get(PATH)));
    }
}

package dev.stoker.sql.catalog;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.sql.table.StokerOptions;
import dev.stoker.sql.table.StokerTableFactory;
import dev.stoker.sql.types.Metadata;
import dev.stoker.sql.types.SqlTypes;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogBaseTable;
import org.apache.flink.table.catalog.CatalogDatabase;
import org.apache.flink.table.catalog.CatalogDatabaseImpl;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.exceptions.CatalogException;
import org.apache.flink.table.catalog.exceptions.DatabaseNotExistException;
import org.apache.flink.table.catalog.exceptions.TableNotExistException;
import org.apache.flink.table.factories.Factory;
import org.apache.flink.table.types.DataType;
import org.jspecify.annotations.Nullable;

/**
 * The datasets of a directory, as tables of one database. A table has the dataset's fields as columns, and the metadata
 * columns {@code key}, {@code _chunk}, {@code _row}, {@code _split}, {@code _version}, and {@code _crc32c_image} for
 * each payload field like {@code image}. {@code photos$v3} is version 3 of the dataset {@code photos},
 * {@code photos$best} the version with the tag {@code best}. Opens datasets, but changes none. Thread-safe.
 */
public final class StokerCatalog extends ReadOnlyCatalog {

    private static final Pattern VERSION =
            Pattern.compile("(?<table>.+)\\$(v(?<number>[1-9][0-9]{0,17})|(?<tag>" + Tag.NAME + "))");

    private final DatasetDirectory directory;

    StokerCatalog(String name, String database, DatasetDirectory directory) {
        super(name, database);
        this.directory = directory;
    }

    @Override
    public Optional<Factory> getFactory() {
        return Optional.of(new StokerTableFactory());
    }

    @Override
    public void open() {
        try {
            directory.list();
        } catch (IOException e) {
            throw new CatalogException(
                    "Cannot list the directory of catalog " + getName() + ", " + directory.location() + ": " + e, e);
        }
    }

    @Override
    public void close() {}

    @Override
    public List<String> listDatabases() {
        return List.of(getDefaultDatabase());
    }

    @Override
    public boolean databaseExists(String name) {
        return name.equals(getDefaultDatabase());
    }

    @Override
    public CatalogDatabase getDatabase(String name) throws DatabaseNotExistException {
        require(name);
        return new CatalogDatabaseImpl(Map.of(), "Datasets in " + directory.location());
    }

    private void require(String database) throws DatabaseNotExistException {
        if (!databaseExists(database)) {
            throw new DatabaseNotExistException(getName(), database);
        }
    }

    @Override
    public List<String> listTables(String database) throws DatabaseNotExistException {
        require(database);
        try {
            return directory.list();
        } catch (IOException e) {
            throw new CatalogException("Cannot list " + directory.location() + ": " + e, e);
        }
    }

    /** A dataset, and the version that a table's name states; empty for the newest. */
    private record Named(String dataset, Optional<VersionName> version) {}

    private Optional<Named> find(ObjectPath table) throws IOException {
        if (!databaseExists(table.getDatabaseName())) {
            return Optional.empty();
        }
        String name = table.getObjectName();
        if (directory.has(name)) {
            return Optional.of(new Named(name, Optional.empty()));
        }
        Matcher versioned = VERSION.matcher(name);
        if (versioned.matches() && directory.has(versioned.group("table"))) {
            String number = versioned.group("number");
            VersionName version = new VersionName(number == null ? versioned.group("tag") : number);
            return Optional.of(new Named(versioned.group("table"), Optional.of(version)));
        }
        return Optional.empty();
    }

    @Override
    public boolean tableExists(ObjectPath table) {
        try {
            return find(table).isPresent();
        } catch (IOException e) {
            throw new CatalogException("Cannot look for " + table + " in " + directory.location() + ": " + e, e);
        }
    }

    @Override
    public CatalogBaseTable getTable(ObjectPath path) throws TableNotExistException {
        return table(path, Long.MAX_VALUE);
    }

    /** Returns the newest version that was committed at this time, in milliseconds since 1970, or before. */
    @Override
    public CatalogBaseTable getTable(ObjectPath path, long timestamp) throws TableNotExistException {
        return table(path, timestamp);
    }

    private CatalogBaseTable table(ObjectPath path, long timestamp) throws TableNotExistException {
        try {
            Named named = find(path).orElseThrow(() -> new TableNotExistException(getName(), path));
            String location = directory.locationOf(named.dataset());
            try (ObjectStore store = DatasetStore.BY_LOCATION.open(location)) {
                Dataset dataset = Dataset.open(store);
                CatalogTable.Builder table = CatalogTable.newBuilder()
                        .comment("Dataset " + dataset.info().name());
                @Nullable Snapshot snapshot = null;
                Map<String, String> options = new HashMap<>();
                options.put("connector", StokerTableFactory.IDENTIFIER);
                options.put(StokerOptions.PATH.key(), location);
                if (timestamp != Long.MAX_VALUE) {
                    long version = VersionTimes.find(dataset, Instant.ofEpochMilli(timestamp));
                    options.put(StokerOptions.VERSION.key(), Long.toString(version));
                    table.snapshot(timestamp);
                    snapshot = dataset.anySnapshot(version);
                } else if (named.version().isPresent()) {
                    long version = named.version().get().in(dataset);
                    dataset.entry(version);
                    options.put(StokerOptions.VERSION.key(), Long.toString(version));
                    snapshot = dataset.anySnapshot(version);
                }
                DatasetInfo info = (snapshot == null ? dataset.latest() : snapshot).info();
                return table.schema(schema(info)).options(options).build();
            }
        } catch (IOException e) {
            throw new CatalogException("Cannot open the dataset of table " + path + ": " + e.getMessage(), e);
        }
    }

    private static Schema schema(DatasetInfo info) {
        Map<Metadata, DataType> metadata = Metadata.of(info);
        Schema.Builder schema = Schema.newBuilder();
        schema.columnByMetadata(Field.KEY, metadata.get(Metadata.KEY), Metadata.KEY.key(), true);
        for (Field field : info.fields()) {
            schema.column(field.name(), SqlTypes.of(field));
        }
        metadata.forEach((value, type) -> {
            String name = "_" + value.key().replace(':', '_');
            if (!value.equals(Metadata.KEY) && info.field(name).isEmpty()) {
                schema.columnByMetadata(name, type, value.key(), true);
            }
        });
        return schema.build();
    }
}

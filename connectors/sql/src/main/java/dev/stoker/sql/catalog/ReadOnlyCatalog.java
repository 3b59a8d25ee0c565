package dev.stoker.sql.catalog;

import java.util.List;
import org.apache.flink.table.catalog.AbstractCatalog;
import org.apache.flink.table.catalog.CatalogBaseTable;
import org.apache.flink.table.catalog.CatalogDatabase;
import org.apache.flink.table.catalog.CatalogFunction;
import org.apache.flink.table.catalog.CatalogPartition;
import org.apache.flink.table.catalog.CatalogPartitionSpec;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.exceptions.FunctionNotExistException;
import org.apache.flink.table.catalog.exceptions.PartitionNotExistException;
import org.apache.flink.table.catalog.exceptions.TableNotPartitionedException;
import org.apache.flink.table.catalog.stats.CatalogColumnStatistics;
import org.apache.flink.table.catalog.stats.CatalogTableStatistics;
import org.apache.flink.table.expressions.Expression;

/** Refuses all changes of a catalog. It has neither views, functions nor partitions. */
abstract class ReadOnlyCatalog extends AbstractCatalog {

    ReadOnlyCatalog(String name, String database) {
        super(name, database);
    }

    private UnsupportedOperationException readOnly(String operation) {
        return new UnsupportedOperationException("Catalog " + getName() + " does not support " + operation
                + "; it lists existing datasets. Declare other tables in another catalog");
    }

    @Override
    public void createDatabase(String name, CatalogDatabase database, boolean flag) {
        throw readOnly("createDatabase");
    }

    @Override
    public void dropDatabase(String name, boolean flag, boolean flag2) {
        throw readOnly("dropDatabase");
    }

    @Override
    public void alterDatabase(String name, CatalogDatabase database, boolean flag) {
        throw readOnly("alterDatabase");
    }

    @Override
    public List<String> listViews(String name) {
        return List.of();
    }

    @Override
    public void dropTable(ObjectPath table, boolean flag) {
        throw readOnly("dropTable");
    }

    @Override
    public void renameTable(ObjectPath table, String name, boolean flag) {
        throw readOnly("renameTable");
    }

    @Override
    public void createTable(ObjectPath table, CatalogBaseTable definition, boolean flag) {
        throw readOnly("createTable");
    }

    @Override
    public void alterTable(ObjectPath table, CatalogBaseTable definition, boolean flag) {
        throw readOnly("alterTable");
    }

    @Override
    public List<CatalogPartitionSpec> listPartitions(ObjectPath table) throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), table);
    }

    @Override
    public List<CatalogPartitionSpec> listPartitions(ObjectPath table, CatalogPartitionSpec partition)
            throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), table);
    }

    @Override
    public List<CatalogPartitionSpec> listPartitionsByFilter(ObjectPath table, List<Expression> filters)
            throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), table);
    }

    @Override
    public CatalogPartition getPartition(ObjectPath table, CatalogPartitionSpec partition)
            throws PartitionNotExistException {
        throw new PartitionNotExistException(getName(), table, partition);
    }

    @Override
    public boolean partitionExists(ObjectPath table, CatalogPartitionSpec partition) {
        return false;
    }

    @Override
    public void createPartition(
            ObjectPath table, CatalogPartitionSpec partition, CatalogPartition content, boolean flag) {
        throw readOnly("createPartition");
    }

    @Override
    public void dropPartition(ObjectPath table, CatalogPartitionSpec partition, boolean flag) {
        throw readOnly("dropPartition");
    }

    @Override
    public void alterPartition(
            ObjectPath table, CatalogPartitionSpec partition, CatalogPartition content, boolean flag) {
        throw readOnly("alterPartition");
    }

    @Override
    public List<String> listFunctions(String name) {
        return List.of();
    }

    @Override
    public CatalogFunction getFunction(ObjectPath table) throws FunctionNotExistException {
        throw new FunctionNotExistException(getName(), table);
    }

    @Override
    public boolean functionExists(ObjectPath table) {
        return false;
    }

    @Override
    public void createFunction(ObjectPath table, CatalogFunction function, boolean flag) {
        throw readOnly("createFunction");
    }

    @Override
    public void alterFunction(ObjectPath table, CatalogFunction function, boolean flag) {
        throw readOnly("alterFunction");
    }

    @Override
    public void dropFunction(ObjectPath table, boolean flag) {
        throw readOnly("dropFunction");
    }

    @Override
    public CatalogTableStatistics getTableStatistics(ObjectPath table) {
        return CatalogTableStatistics.UNKNOWN;
    }

    @Override
    public CatalogColumnStatistics getTableColumnStatistics(ObjectPath table) {
        return CatalogColumnStatistics.UNKNOWN;
    }

    @Override
    public CatalogTableStatistics getPartitionStatistics(ObjectPath table, CatalogPartitionSpec partition) {
        return CatalogTableStatistics.UNKNOWN;
    }

    @Override
    public CatalogColumnStatistics getPartitionColumnStatistics(ObjectPath table, CatalogPartitionSpec partition) {
        return CatalogColumnStatistics.UNKNOWN;
    }

    @Override
    public void alterTableStatistics(ObjectPath table, CatalogTableStatistics statistics, boolean flag) {
        throw readOnly("alterTableStatistics");
    }

    @Override
    public void alterTableColumnStatistics(ObjectPath table, CatalogColumnStatistics statistics, boolean flag) {
        throw readOnly("alterTableColumnStatistics");
    }

    @Override
    public void alterPartitionStatistics(
            ObjectPath table, CatalogPartitionSpec partition, CatalogTableStatistics statistics, boolean flag) {
        throw readOnly("alterPartitionStatistics");
    }

    @Override
    public void alterPartitionColumnStatistics(
            ObjectPath table, CatalogPartitionSpec partition, CatalogColumnStatistics statistics, boolean flag) {
        throw readOnly("alterPartitionColumnStatistics");
    }
}

/**
 * Maps the types and values of datasets to types and values of Flink SQL. Stateless; uses neither tables nor catalogs.
 */
package dev.stoker.sql.types;

/** Maps the types and values of datasets to those of Flink SQL. Stateless; knows neither tables nor catalogs. */
package dev.stoker.sql.types;
